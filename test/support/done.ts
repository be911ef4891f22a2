import { readFileSync } from "node:fs"

/**
 * Matches every test but those whose full names a file has, in JSON: `.ci/run` does with CI_FULL=1 only what it has not
 * done without. They are those of files in which CI_FULL=1 adds tests and changes none.
 */
export const othersThan = (file: string) => {
  const names = JSON.parse(readFileSync(file, "utf8")) as ReadonlyArray<string>
  const literal = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
  return names.length === 0 ? /^/ : new RegExp(`^(?!(?:${literal.join("|")})$)`)
}
