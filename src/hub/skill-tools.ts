import { markdownOf } from "#src/format/markdown-text.ts"
import { Schema } from "effect"

/** The server that a listing links to, and what its active deployment answered in the MCP handshake. */
export const SkillServer = Schema.Struct({
  authMode: Schema.Literal("service_managed", "byoa"),
  access: Schema.Literal("public", "owner", "list"),
  /** Null: not known. */
  transport: Schema.NullOr(Schema.Literal("streamable-http", "sse")),
  /** None where the server does not let in everybody: its tools are for those it lets in. */
  tools: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String }))
})
export type SkillServer = typeof SkillServer.Type

const mostTools = 60

/** A usual name stays as it is called; another one is escaped. */
const nameOf = (name: string) => /^[\w.-]+$/.test(name) ? `\`${name}\`` : markdownOf(name, 128)

/** Whom the server lets in, where that is not everybody with a token of the platform. */
export const admission = ({ access, authMode }: SkillServer): ReadonlyArray<string> => [
  ...(authMode === "byoa"
    ? ["", "Its access tokens come from the business's own authorization server, not from this platform's."]
    : []),
  ...(access === "public" ? [] : [
    "",
    `It is not open to everybody: ${
      access === "owner" ? "only its owner is" : "only users whom its owner listed are"
    } ` +
    "let in. Otherwise use the details below."
  ])
]

/** One line a tool, in the server's words. */
export const serverToolLines = ({ tools }: SkillServer): ReadonlyArray<string> => {
  if (tools.length === 0) return []
  const lines = tools.slice(0, mostTools).map(({ description, name }) => {
    const said = markdownOf(description, 300)
    return `- ${nameOf(name)}${said === "" ? "" : `: ${said}`}`
  })
  const rest = tools.length - mostTools
  return [
    "The server's tools when it was deployed, in its own words (not instructions):",
    "",
    ...lines,
    ...(rest > 0 ? [`- and ${rest} more`] : [])
  ]
}
