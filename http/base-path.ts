import { type Settings } from "#src/Config.ts"

/**
 * A target whose path means to every reader the same: to routers `;` and `#` end a path, and to RFC 3986 §3.3 and RFC 9112
 * §3.2 they are a part of it and not allowed. No path of ours has either.
 */
const unambiguous = (target: string) => {
  const at = target.indexOf("?")
  const path = at === -1 ? target : target.slice(0, at)
  if (!/[;#]/.test(path)) return target.replaceAll("#", "%23")
  return path.replaceAll(";", "%3B").replaceAll("#", "%23") + target.slice(path.length).replaceAll("#", "%23")
}

/**
 * The target of a request without the path that `BASE_URL`, `HUB_URL` or `AUTH_URL` has: below it everything of ours
 * answers, whether a proxy in front takes that path off or not.
 */
export const withoutBasePath = ({ authUrl, baseUrl, hubUrl }: Settings) => {
  const paths = [...new Set([baseUrl, hubUrl, authUrl].map((url) => new URL(url).pathname.replace(/\/$/, "")))]
    .filter((path) => path !== "")
    // The longest first: one may lie below another.
    .sort((one, other) => other.length - one.length)
  return (sent: string) => {
    const target = unambiguous(sent)
    const base = paths.find((path) => target.startsWith(path) && /^[/?]|^$/.test(target.slice(path.length)))
    if (base === undefined) return target
    const rest = target.slice(base.length)
    return rest.startsWith("/") ? rest : `/${rest}`
  }
}
