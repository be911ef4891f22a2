import { type Settings } from "#src/config/Settings.ts"

/**
 * Removes the path of `BASE_URL`, `HUB_URL` or `AUTH_URL` from a request's target: everything is served below it,
 * whether or not a proxy in front removes it.
 */
export const withoutBasePath = ({ authUrl, baseUrl, hubUrl }: Settings) => {
  const paths = [...new Set([baseUrl, hubUrl, authUrl].map((url) => new URL(url).pathname.replace(/\/$/, "")))]
    .filter((path) => path !== "")
    // Longest first: one may be below another.
    .sort((one, other) => other.length - one.length)
  return (target: string) => {
    const base = paths.find((path) => target.startsWith(path) && /^[/?]|^$/.test(target.slice(path.length)))
    if (base === undefined) return target
    const rest = target.slice(base.length)
    return rest.startsWith("/") ? rest : `/${rest}`
  }
}
