import { Either } from "effect"
import { type ImageError, imageError } from "./ImageError.ts"
import type { ConfigFile, Descriptor, Index } from "./manifest.ts"

const goArchitectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386", ppc64: "ppc64le" }

/** A Node architecture under the name that image platforms use. */
export const architectureOf = (nodeArch: string): string => goArchitectures[nodeArch] ?? nodeArch

const usualVariants: Readonly<Record<string, string>> = { arm64: "v8", arm: "v7" }

const describe = (platform: Descriptor["platform"]) =>
  platform === undefined
    ? undefined
    : [platform.os, platform.architecture, platform.variant].filter((part) => part !== undefined).join("/")

const wrong = (wanted: string, found: ReadonlyArray<string>) =>
  imageError(
    "wrong_architecture",
    `The image has no build for linux/${wanted}; it has ${found.length === 0 ? "none" : found.join(", ")}`
  )

/**
 * The manifest of an index for Linux on `architecture`: the one without a variant, else the usual variant, else the
 * first. An entry that names no platform counts only when it is the sole one; the config is checked after it anyway.
 */
export const selectPlatform = (index: Index, architecture: string): Either.Either<Descriptor, ImageError> => {
  const [only, ...others] = index.manifests
  if (only !== undefined && others.length === 0 && only.platform === undefined) return Either.right(only)
  const fitting = index.manifests.filter(({ platform }) =>
    platform?.os === "linux" && platform.architecture === architecture
  )
  const chosen = fitting.find(({ platform }) => (platform?.variant ?? "") === "") ??
    fitting.find(({ platform }) => platform?.variant === usualVariants[architecture]) ??
    fitting[0]
  if (chosen !== undefined) return Either.right(chosen)
  // Attestations are listed as unknown/unknown: they are no builds.
  const found = index.manifests.flatMap(({ platform }) => describe(platform) ?? [])
    .filter((name) => !name.startsWith("unknown"))
  return Either.left(wrong(architecture, [...new Set(found)].slice(0, 20)))
}

export const checkPlatform = (config: ConfigFile, architecture: string): Either.Either<void, ImageError> =>
  config.os === "linux" && config.architecture === architecture
    ? Either.void
    : Either.left(wrong(architecture, [`${config.os}/${config.architecture}`.slice(0, 100)]))
