import { pathOf } from "#http/connection/path-of.ts"

/** What a request to `/v2` is about (OCI distribution specification, "Endpoints"). */
export type Endpoint =
  | { readonly _tag: "Base" }
  | { readonly _tag: "Uploads" | "Tags"; readonly name: string }
  | { readonly _tag: "Upload" | "Blob" | "Manifest" | "Referrers"; readonly name: string; readonly at: string }

const patterns: ReadonlyArray<readonly [RegExp, Exclude<Endpoint["_tag"], "Base">]> = [
  [/^\/v2\/(.+)\/blobs\/uploads\/?$/, "Uploads"],
  [/^\/v2\/(.+)\/blobs\/uploads\/([^/]+)$/, "Upload"],
  [/^\/v2\/(.+)\/blobs\/([^/]+)$/, "Blob"],
  [/^\/v2\/(.+)\/manifests\/([^/]+)$/, "Manifest"],
  [/^\/v2\/(.+)\/tags\/list$/, "Tags"],
  [/^\/v2\/(.+)\/referrers\/([^/]+)$/, "Referrers"]
]

/** Whether a target is the registry's. */
export const isDistribution = (target = "") => /^\/v2(?:[/?]|$)/.test(target)

/** Clients may encode the colon of a digest. */
const decoded = (path: string) => {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** The endpoint of a request's target; undefined when there is none. */
export const endpointOf = (target: string): Endpoint | undefined => {
  const path = decoded(pathOf(target))
  if (path === undefined) return undefined
  if (/^\/v2\/?$/.test(path)) return { _tag: "Base" }
  for (const [pattern, _tag] of patterns) {
    const [, name, at = ""] = pattern.exec(path) ?? []
    if (name === undefined) continue
    return _tag === "Uploads" || _tag === "Tags" ? { _tag, name } : { _tag, name, at }
  }
  return undefined
}
