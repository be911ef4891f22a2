import { ResourceTokens } from "#src/composites/ResourceTokens.ts"
import { Grant } from "#src/oauth/Grant.ts"
import { Grants } from "#src/oauth/Grants.ts"
import { ExchangedToken, exchangeFields } from "#src/oauth/TokenExchange.ts"
import { PageArguments, PageOf } from "#src/shared/paging.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

export const grantTools = Effect.map(Effect.all([Grants, ResourceTokens]), ([grants, exchanges]) => [
  tool({
    name: "create_server_token",
    title: "Get a token for a server",
    description:
      "Gets a Bearer token of 15 minutes with which you call a hosted MCP server, such as a listing's mcpServerUrl, over " +
      "HTTP. For servers that let in everybody, and your own. Recorded as a grant: revoke_grant (call_tool) ends it.",
    toolset: "deploy",
    effect: "create",
    needs: "sessionOrHubKey",
    params: Input(exchangeFields),
    success: ExchangedToken,
    run: (request) => exchanges.exchange(request)
  }),
  tool({
    name: "list_grants",
    title: "List OAuth grants",
    description:
      "Lists the grants of the account's user to OAuth clients, newest first: who acts for them, and with which scopes. " +
      "revoke_grant ends one.",
    toolset: "deploy",
    effect: "read",
    needs: "session",
    params: Input(PageArguments),
    success: PageOf(Grant),
    run: (page) => grants.list(page)
  }),
  tool({
    name: "revoke_grant",
    title: "Revoke an OAuth grant",
    description:
      "Revokes a client's grant at once, with its tokens and the API keys it made; it must ask its user again. " +
      "Ask first.",
    toolset: "deploy",
    effect: "delete",
    needs: "session",
    params: Input({ grantId: Schema.String }),
    run: ({ grantId }) => grants.revoke(grantId)
  }),
  tool({
    name: "renew_grant",
    title: "Allow tokens again",
    description:
      "Takes back the revocation of a grant to composites or token exchange: they get tokens for that server again. Ask first.",
    toolset: "deploy",
    effect: "update",
    needs: "session",
    params: Input({ grantId: Schema.String }),
    success: Grant,
    run: ({ grantId }) => grants.renew(grantId)
  })
])
