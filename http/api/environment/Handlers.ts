import { Data, data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { Environment } from "#src/servers/Environment.ts"
import { EnvironmentVariable, NamedVariable } from "#src/servers/EnvironmentVariable.ts"
import { decodeInput } from "#src/shared/Failure.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect, Schema } from "effect"
import { EnvironmentApi } from "./Api.ts"

const body = Schema.encodeSync(Data(EnvironmentVariable))

const answer = ({ created, variable }: { created: boolean; variable: typeof EnvironmentVariable.Type }) =>
  HttpServerResponse.unsafeJson(body(data(variable)), { status: created ? 201 : 200 })

export const EnvironmentHandlers = HttpApiBuilder.group(
  apiOf(EnvironmentApi),
  "environment",
  (handlers) =>
    Effect.map(Environment, (environment) =>
      handlers
        .handle("names", ({ path }) => Effect.map(environment.names(path.serverId), data))
        .handle("set", ({ path, payload }) => Effect.map(environment.set(path.serverId, payload), answer))
        .handle("put", ({ path, payload }) =>
          decodeInput(NamedVariable)({ name: path.name, value: payload.value }).pipe(
            Effect.flatMap((variable) => environment.set(path.serverId, variable)),
            Effect.map(answer)
          ))
        .handle("remove", ({ path }) => environment.remove(path.serverId, path.name)))
)
