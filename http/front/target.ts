import { type Settings } from "#src/config/Settings.ts"
import { withoutBasePath } from "./base-path.ts"

/**
 * To the router `;` and `#` end a path, to whoever else looks at one they are part of it. No path of ours has either, so
 * they are written as what they would be in a name.
 */
const unambiguous = (target: string) => {
  const [path = "", ...query] = target.replaceAll("#", "%23").split("?")
  return [path.replaceAll(";", "%3B"), ...query].join("?")
}

/** The target of a request that is ours, as everything behind the listener sees it. */
export const ownTarget = (settings: Settings) => {
  const without = withoutBasePath(settings)
  return (target: string) => without(unambiguous(target))
}
