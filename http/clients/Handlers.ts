import { OAuthClients } from "#src/oauth/Clients.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "../Api.ts"
import { data } from "../envelope.ts"

export const ClientsHandlers = HttpApiBuilder.group(
  Api,
  "clients",
  (handlers) =>
    Effect.map(
      OAuthClients,
      (clients) =>
        handlers.handle(
          "register",
          ({ path, payload }) => Effect.map(clients.preRegister(path.serverId, payload), data)
        )
    )
)
