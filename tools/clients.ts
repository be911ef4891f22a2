import { PreRegisteredClient, preRegistrationFields } from "#src/oauth/Client.ts"
import { OAuthClients } from "#src/oauth/Clients.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

export const clientTools = Effect.map(OAuthClients, (clients) => [
  tool({
    name: "register_client",
    title: "Register an OAuth client",
    description: "Registers an OAuth client for a hosted server by the https URL of its metadata document, which is " +
      "fetched and validated at once. The server then trusts it: use it for your own apps, so that their users are " +
      "not asked for consent. Any other client needs no registration.",
    toolset: "deploy",
    effect: "update",
    needs: "session",
    lowerCaseCodes: true,
    params: Input({ serverId: Schema.String, ...preRegistrationFields }),
    success: PreRegisteredClient,
    run: ({ serverId, ...input }) => clients.preRegister(serverId, input)
  })
])
