import { type Settings } from "#src/config/Settings.ts"
import { withoutBasePath } from "./base-path.ts"

/**
 * For the router `;` and `#` end a path, for all other code they are part of it. Our paths contain neither, so they are
 * percent-encoded. So is `//` in a query, of which the router makes `/`, as it does in a path: RFC 3986 §3.4 lets it be.
 */
const unambiguous = (target: string) => {
  const [path = "", ...query] = target.replaceAll("#", "%23").split("?")
  return [path.replaceAll(";", "%3B"), ...query.map((part) => part.replaceAll("//", "%2F%2F"))].join("?")
}

/** The target of a platform request, as all code behind the listener sees it. */
export const ownTarget = (settings: Settings) => {
  const withoutBase = withoutBasePath(settings)
  return (target: string) => withoutBase(unambiguous(target))
}
