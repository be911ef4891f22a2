/** What a scope allows, in words for the user. */
export interface ScopeWords {
  readonly scope: string
  /** Undefined for a scope without words: its name is shown. */
  readonly words: string | undefined
  /** Its power is easily underestimated. */
  readonly grave: boolean
}

/** The most powerful scope comes first. */
const words: Readonly<Record<string, string>> = {
  "account":
    "Act as you in everything else: create and delete projects, make API keys (which end when you take this back), " +
    "change your plan, and see and revoke what you allowed other applications",
  "mcp:read": "See what the server offers: its tools, resources and prompts, and read them",
  "mcp:write": "Use the tools that change something",
  "mcp:execute": "Use every tool of the server",
  "servers:read": "See your projects, servers, their settings and the names of their variables",
  "servers:write": "Create, change, start, stop and delete your servers and their variables",
  "deployments:read": "See your deployments",
  "deployments:write": "Deploy new versions of your servers, and roll them back",
  "logs:read": "Read the logs of your servers",
  "metrics:read": "See how much your servers are used",
  "billing:read": "See your plan, your usage and your bills",
  "offline_access": "Stay connected when you are away, until you take it back (30 days after its last use)"
}

const grave = new Set(["account"])

/** One entry for each scope, in the order of the table above; unknown scopes come last. */
export const scopeWords = (scopes: ReadonlyArray<string>): ReadonlyArray<ScopeWords> => {
  const knownScopes = Object.keys(words).filter((scope) => scopes.includes(scope))
  const unknownScopes = [...new Set(scopes)].filter((scope) => !knownScopes.includes(scope))
  return [...knownScopes, ...unknownScopes].map((scope) => ({
    scope,
    words: Object.hasOwn(words, scope) ? words[scope] : undefined,
    grave: grave.has(scope)
  }))
}
