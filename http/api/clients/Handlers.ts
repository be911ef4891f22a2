import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { OAuthClients } from "#src/oauth/Clients.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { ClientsApi } from "./Api.ts"

export const ClientsHandlers = HttpApiBuilder.group(
  apiOf(ClientsApi),
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
