import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { newId, newUlid } from "#src/shared/ids.ts"
import { sealedColumn } from "#src/shared/sealed-column.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { EnvironmentRepo } from "./EnvironmentRepo.ts"
import {
  EnvironmentVariable,
  exceedsTotal,
  isVariableName,
  lengthProblem,
  type NamedVariable,
  TooManyVariables,
  VariableNotFound
} from "./EnvironmentVariable.ts"
import { Servers } from "./Servers.ts"

const variablesPerServer = 100
const { id: VariableId } = EnvironmentVariable.fields

export const sealedVariables = sealedColumn("environment_variables", "sealed_value")
export const sealedReplaced = sealedColumn("replaced_variables", "sealed_value")

/** The context that a sealed value is bound to: it opens for this server and name only. */
export const valueContext = (serverId: string, name: string) => `env ${serverId} ${name}`

/** Plain size of a sealed value (`v1.{key id}.{wrapped data key}.{box}`): base64 adds a third, the rest is 98 bytes. */
const bytesOf = (sealed: string) => Math.floor(sealed.length * 3 / 4) - 98

/** A server's environment variables: sealed at rest, names only on reads, in effect from the next deployment. */
export class Environment extends Effect.Service<Environment>()("servers/Environment", {
  effect: Effect.gen(function*() {
    const repo = yield* EnvironmentRepo
    const servers = yield* Servers
    const secrets = yield* Secrets
    const sql = yield* SqlClient.SqlClient

    /** Creates or replaces; `created` says which. */
    const set = Effect.fn("Environment.set")(
      function*(id: string, { name, value }: typeof NamedVariable.Type) {
        const server = yield* servers.visible(id)
        const problem = lengthProblem(name, value)
        if (problem !== undefined) return yield* Invalid.field("value", problem)
        const sealedValue = yield* secrets.seal(value, valueContext(server.id, name))
        yield* repo.lockServer(server.id)
        const sizes = new Map((yield* repo.sealed(server.id)).map((row) => [row.name, bytesOf(row.sealedValue)]))
        const created = !sizes.has(name)
        if (created && sizes.size >= variablesPerServer) return yield* new TooManyVariables({ what: "number" })
        if (exceedsTotal(sizes.set(name, bytesOf(sealedValue)))) return yield* new TooManyVariables({ what: "size" })
        yield* repo.keep(newUlid(), server.id, name)
        const variable = yield* repo.upsert({
          id: VariableId.make(newId("env")),
          serverId: server.id,
          name,
          sealedValue
        })
        return { created, variable }
      },
      transactionally(sql),
      withPolicy(anyScope("servers:write"))
    )

    const names = Effect.fn("Environment.names")(function*(id: string) {
      const server = yield* servers.visible(id)
      return (yield* repo.sealed(server.id)).map((row) => row.name)
    }, withPolicy(anyScope("servers:read")))

    const remove = Effect.fn("Environment.remove")(
      function*(id: string, name: string) {
        const server = yield* servers.visible(id)
        if (!isVariableName(name)) return yield* new VariableNotFound()
        yield* repo.lockServer(server.id)
        yield* repo.keep(newUlid(), server.id, name)
        if (!(yield* repo.remove(server.id, name))) return yield* new VariableNotFound()
      },
      transactionally(sql),
      withPolicy(anyScope("servers:write"))
    )

    /** The values in clear, for a deployment only; fails when the key that sealed them is missing. */
    const reveal = Effect.fn("Environment.reveal")(function*(serverId: string) {
      const rows = yield* repo.sealed(serverId)
      const entries = yield* Effect.forEach(
        rows,
        ({ name, sealedValue }) =>
          Effect.map(secrets.open(sealedValue, valueContext(serverId, name)), (value) => [name, value] as const)
      )
      return Object.fromEntries(entries)
    })

    return { set, names, remove, reveal, forget: repo.forget } as const
  })
}) {}
