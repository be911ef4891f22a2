import { Schema } from "effect"
import { quoted } from "./mcp/render.ts"

/** The envelope of every error of an installation. */
export const ErrorAnswer = Schema.Struct({
  error: Schema.optional(Schema.Struct({
    code: Schema.optional(Schema.String),
    message: Schema.String,
    details: Schema.optional(Schema.Struct({
      issues: Schema.optional(Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String })))
    }))
  }))
})

/** The error's issues, one per line, or its message; lines of its own within one are indented. */
export const errorText = ({ error }: typeof ErrorAnswer.Type) => {
  const issues = error?.details?.issues ?? []
  if (error === undefined) return "The installation did not answer as expected"
  return issues.length === 0
    ? quoted(error.message)
    : issues.map(({ message, path }) => quoted(`${path}: ${message}`)).join("\n")
}
