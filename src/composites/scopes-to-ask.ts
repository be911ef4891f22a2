import {
  mcpScopesIn,
  missingScopes,
  needsOf,
  scopesToAsk as toAsk,
  toolsInDoubt
} from "#src/oauth/scopes/mcp-scopes.ts"
import { Predicate } from "effect"
import { ownToolNames } from "./CallableComposite.ts"
import { type Merged } from "./merge.ts"

/** A call by way of `call_tool` is one of the tool that it names. */
const meant = (message: unknown): unknown => {
  if (Array.isArray(message)) return message.map(meant)
  if (!Predicate.isRecord(message) || !Predicate.isRecord(message["params"])) return message
  const { arguments: args, name } = message["params"]
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
  const needs = needsOf(meant(body))
  const inDoubt = toolsInDoubt(needs, granted)
  const changes = tools.filter(({ isMarked, name }) => isMarked && inDoubt.has(name)).map(({ name }) => name)
  return toAsk(missingScopes(needs, granted, new Set(changes)), granted)
}
