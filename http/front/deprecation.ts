import { pathOf } from "#http/connection/path-of.ts"
import { type Route } from "#http/traits/Traits.ts"

/** Contract: Versioning, deprecated aliases. */
const sunset = "Sat, 01 Jan 2028 00:00:00 GMT"

/** The successor's path, with the parameters of the path that was requested. */
const successorOf = (successor: string, declared: string, requested: string) => {
  const values = pathOf(requested).split("/")
  const parameters = new Map(declared.split("/").map((name, at) => [name, values[at] ?? name]))
  return successor.split("/").map((name) => name.startsWith(":") ? parameters.get(name) ?? name : name).join("/")
}

/** `Deprecation`, `Link` (RFC 8288, relation of RFC 5829 §3.3) and `Sunset` (RFC 8594) of a path that another replaces. */
export const deprecationHeaders = ({ path, traits: { successor } }: Route, url: string): Record<string, string> =>
  successor === undefined ? {} : {
    deprecation: "true",
    link: `<${path === "" ? successor : successorOf(successor, path, url)}>; rel="successor-version"`,
    sunset
  }
