import {
  mcpScopesIn,
  missingScopes,
  needsOf,
  scopesToAsk as toAsk,
  toolsInDoubt
} from "#src/oauth/scopes/mcp-scopes.ts"
import { type McpScope } from "#src/oauth/scopes/scopes.ts"
import { Predicate, Struct } from "effect"
import { ownToolNames } from "./CallableComposite.ts"
import { type Merged } from "./merge.ts"

/** Tools of the composite itself that tell what it has. */
const lists: ReadonlySet<unknown> = new Set(Object.values(Struct.omit(ownToolNames, "call")))

/**
 * A call by way of `call_tool` is one of the tool that it names. What only tells of tools and members is a list to who may
 * not call: above forty tools it is the only one there is.
 */
const meant = (granted: ReadonlySet<McpScope>) => (message: unknown): unknown => {
  if (Array.isArray(message)) return message.map(meant(granted))
  if (!Predicate.isRecord(message) || !Predicate.isRecord(message["params"])) return message
  const { arguments: args, name } = message["params"]
  const isList = message["method"] === "tools/call" && lists.has(name) && !granted.has("mcp:execute")
  if (isList) return { ...message, method: "tools/list" }
  return name === ownToolNames.call && Predicate.isRecord(args) && typeof args["name"] === "string"
    ? { ...message, params: { name: args["name"] } }
    : message
}

/**
 * The scopes that a JSON-RPC body takes of a token for the composite, and those it has; undefined: it may pass. By the rule
 * of members' own addresses (docs/security.md, "Scopes"), so that no call passes here that they refuse.
 */
export const scopesToAsk = ({ tools }: Merged, body: unknown, scope: string): string | undefined => {
  const granted = mcpScopesIn(scope)
  const needs = needsOf(meant(granted)(body))
  const inDoubt = toolsInDoubt(needs, granted)
  const changes = tools.filter(({ isMarked, name }) => isMarked && inDoubt.has(name)).map(({ name }) => name)
  return toAsk(missingScopes(needs, granted, new Set(changes)), granted)
}
