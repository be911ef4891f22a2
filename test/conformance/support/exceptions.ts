import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { type Suite } from "./suite.ts"

interface Exception {
  readonly reason: string
  readonly servers: ReadonlyArray<string>
  readonly suites: ReadonlyArray<Suite>
  readonly checks: ReadonlyArray<string>
}

export const exceptions = parse(
  readFileSync(join(import.meta.dirname, "../exceptions.yaml"), "utf8")
) as ReadonlyArray<Exception>

/** The checks that a server is known not to pass, each once. */
export const exceptionsOf = (server: string, suite: Suite): ReadonlyArray<string> =>
  exceptions.filter(({ servers, suites }) => servers.includes(server) && suites.includes(suite))
    .flatMap(({ checks }) => checks).sort()
