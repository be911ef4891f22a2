import { type Settings } from "#src/config/Settings.ts"

/**
 * The target of a request without the path that `BASE_URL`, `HUB_URL` or `AUTH_URL` has: below it everything of ours
 * answers, whether a proxy in front takes that path off or not.
 */
export const withoutBasePath = ({ authUrl, baseUrl, hubUrl }: Settings) => {
  const paths = [...new Set([baseUrl, hubUrl, authUrl].map((url) => new URL(url).pathname.replace(/\/$/, "")))]
    .filter((path) => path !== "")
    // The longest first: one may lie below another.
    .sort((one, other) => other.length - one.length)
  return (target: string) => {
    const base = paths.find((path) => target.startsWith(path) && /^[/?]|^$/.test(target.slice(path.length)))
    if (base === undefined) return target
    const rest = target.slice(base.length)
    return rest.startsWith("/") ? rest : `/${rest}`
  }
}
