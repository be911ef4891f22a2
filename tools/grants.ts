import { Grant } from "#src/oauth/Grant.ts"
import { Grants } from "#src/oauth/Grants.ts"
import { PageArguments, PageOf } from "#src/shared/paging.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

export const grantTools = Effect.map(Grants, (grants) => [
  tool({
    name: "list_grants",
    title: "List OAuth grants",
    description: "Lists the grants of the account's user to OAuth clients, newest first.",
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
    title: "Allow composites again",
    description:
      "Lets composites call a business's server for this account again, after its user revoked that. Ask first.",
    toolset: "deploy",
    effect: "update",
    needs: "session",
    params: Input({ grantId: Schema.String }),
    success: Grant,
    run: ({ grantId }) => grants.renew(grantId)
  })
])
