import { issuesOf } from "#src/format/issues.ts"
import { Either, Schema } from "effect"
import { ServerFile, serverFileKeys } from "./ServerFile.ts"
import { readToml } from "./toml.ts"

const decode = Schema.decodeUnknownEither(ServerFile)

const hint = (path: string, message: string) => {
  if (message !== "is not a known field") return ""
  const known = serverFileKeys[path.slice(0, Math.max(path.lastIndexOf("."), 0))] ?? []
  return known.length === 0 ? "." : `. Its keys are ${known.join(", ")}`
}

/** Reads `berth.toml`; on the left one problem a line, each with the file's name, line and column. */
export const readServerFile = (text: string, name: string): Either.Either<ServerFile, string> => {
  const read = readToml(text)
  if (!("value" in read)) return Either.left(`${name}:${read.line}:${read.column}: ${read.message}`)
  return Either.mapLeft(decode(read.value), (error) =>
    issuesOf(error)
      .map((issue) => ({ ...issue, ...read.positionOf(issue.path) }))
      .toSorted((a, b) => a.line - b.line || a.column - b.column)
      .map(({ column, line, message, path }) =>
        `${name}:${line}:${column}: ${path} ${message.replace("a known field", "a known key")}${hint(path, message)}`
      )
      .join("\n"))
}
