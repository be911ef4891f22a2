import { Either } from "effect"
import { type ImageError, imageError } from "./ImageError.ts"
import type { ConfigFile, Descriptor, Index } from "./manifest.ts"

const goArchitectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386", ppc64: "ppc64le" }

/** The name that image platforms use for a Node architecture. */
export const architectureOf = (nodeArch: string): string => goArchitectures[nodeArch] ?? nodeArch

const usualVariants: Readonly<Record<string, string>> = { arm64: "v8", arm: "v7" }

const describe = (platform: Descriptor["platform"]) =>
  platform === undefined
    ? undefined
    : [platform.os, platform.architecture, platform.variant].filter((part) => part !== undefined).join("/")

const wrongArchitecture = (architecture: string, available: ReadonlyArray<string>) =>
  imageError(
    "wrong_architecture",
    `The image has no build for linux/${architecture}; it has ${available.length === 0 ? "none" : available.join(", ")}`
  )

/**
 * The manifest of an index for Linux on `architecture`: the one without a variant, else the usual variant, else the
 * first. An entry without a platform counts only when it is the only one; its config is checked later anyway.
 */
export const selectPlatform = (index: Index, architecture: string): Either.Either<Descriptor, ImageError> => {
  const [only, ...others] = index.manifests
  if (only !== undefined && others.length === 0 && only.platform === undefined) return Either.right(only)
  const matches = index.manifests.filter(({ platform }) =>
    platform?.os === "linux" && platform.architecture === architecture
  )
  const chosen = matches.find(({ platform }) => (platform?.variant ?? "") === "") ??
    matches.find(({ platform }) => platform?.variant === usualVariants[architecture]) ??
    matches[0]
  if (chosen !== undefined) return Either.right(chosen)
  // Attestations are listed as unknown/unknown: they are not builds.
  const available = index.manifests.flatMap(({ platform }) => describe(platform) ?? [])
    .filter((name) => !name.startsWith("unknown"))
  return Either.left(wrongArchitecture(architecture, [...new Set(available)].slice(0, 20)))
}

export const checkPlatform = (config: ConfigFile, architecture: string): Either.Either<void, ImageError> =>
  config.os === "linux" && config.architecture === architecture
    ? Either.void
    : Either.left(wrongArchitecture(architecture, [`${config.os}/${config.architecture}`.slice(0, 100)]))
