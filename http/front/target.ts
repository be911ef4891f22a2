import { type Settings } from "#src/config/Settings.ts"
import { withoutBasePath } from "./base-path.ts"

/**
 * For the router `;` and `#` end a path, for all other code they are part of it. Our paths contain neither, so they are
 * percent-encoded.
 */
const unambiguous = (target: string) => {
  const [path = "", ...query] = target.replaceAll("#", "%23").split("?")
  return [path.replaceAll(";", "%3B"), ...query].join("?")
}

/** The target of a platform request, as all code behind the listener sees it. */
export const ownTarget = (settings: Settings) => {
  const withoutBase = withoutBasePath(settings)
  return (target: string) => withoutBase(unambiguous(target))
}
