import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, Unauthorized, withPolicy } from "#src/accounts/Policy.ts"
import { isId, newId } from "#src/shared/ids.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { transactionally } from "#src/shared/sql.ts"
import { digestOf, isKey, newKey } from "#src/shared/tokens.ts"
import { traced } from "#src/shared/traced.ts"
import { SqlClient } from "@effect/sql"
import { Clock, Duration, Effect, Option } from "effect"
import { ApiKeyId, type ApiKeyInput, ApiKeyNotFound, TooManyKeys } from "./ApiKey.ts"
import { ApiKeysRepo, type Origin } from "./ApiKeysRepo.ts"
import { Projects } from "./Projects.ts"

const prefixes = { live: "svc_live_", test: "svc_test_" } as const
const keysPerProject = 100
/** `lastUsedAt` is accurate to a minute, so that a busy key doesn't write on every request. */
const touchAfter = Duration.toMillis("1 minute")

/** Platform API keys. Managed by sessions only. */
export class ApiKeys extends Effect.Service<ApiKeys>()("projects/ApiKeys", {
  effect: Effect.gen(function*() {
    const repo = yield* ApiKeysRepo
    const projects = yield* Projects
    const sql = yield* SqlClient.SqlClient

    /** The grant that a client's key is bound to. It may have been revoked since the client's token was checked. */
    const origin = Effect.gen(function*() {
      const { credential } = yield* CurrentActor
      if (credential.kind !== "oauth") return { grantId: null, familyId: null } satisfies Origin
      return yield* Option.match(yield* repo.activeOrigin(credential.familyId), {
        onNone: () => new Unauthorized({ reason: "The grant of this client was revoked" }),
        onSome: Effect.succeed
      })
    })

    const create = Effect.fn("ApiKeys.create")(
      function*(projectId: string, input: typeof ApiKeyInput.Type) {
        const project = yield* projects.visible(projectId)
        const key = newKey(prefixes[input.environment])
        yield* repo.lockProject(project.id)
        if ((yield* repo.total(project.id)) >= keysPerProject) return yield* new TooManyKeys()
        const row = yield* repo.insert({
          id: ApiKeyId.make(newId("key")),
          projectId: project.id,
          name: input.name,
          environment: input.environment,
          keyPrefix: key.slice(0, 16),
          scopes: input.scopes,
          ...(yield* origin),
          keyHash: digestOf(key)
        })
        return { key, ...row }
      },
      transactionally(sql),
      withPolicy(sessionOnly)
    )

    const list = Effect.fn("ApiKeys.list")(function*(projectId: string, request: PageRequest) {
      const project = yield* projects.visible(projectId)
      return yield* paginate({
        list: `keys ${project.id}`,
        request,
        isKey: (text) => isId("key", text),
        read: (after, count) => repo.list(project.id, after, count),
        keyOf: (key) => key.id,
        total: () => repo.total(project.id)
      })
    }, withPolicy(sessionOnly))

    const remove = Effect.fn("ApiKeys.remove")(function*(id: string) {
      const { accountId } = yield* CurrentActor
      const removed = isId("key", id) ? yield* repo.remove(id, accountId) : Option.none()
      if (Option.isNone(removed)) return yield* new ApiKeyNotFound()
    }, withPolicy(sessionOnly))

    /** The actor of a platform key; none when it is unknown, deleted or expired. A malformed key costs no query. */
    const authenticate = traced("ApiKeys.authenticate")(function*(key: string) {
      if (!isKey(Object.values(prefixes), key)) return Option.none<Actor>()
      const now = yield* Clock.currentTimeMillis
      const row = yield* repo.holder(digestOf(key), new Date(now))
      if (Option.isNone(row)) return Option.none<Actor>()
      const { accountId, email, environment, id, lastUsedAt, plan, projectId, scopes } = row.value
      if (lastUsedAt === null || now - lastUsedAt.getTime() > touchAfter) yield* repo.touch(id)
      const credential = { kind: "key" as const, id, projectId, environment, scopes: new Set(scopes) }
      return Option.some<Actor>({ accountId, email, plan, credential })
    })

    return {
      create,
      list,
      remove,
      authenticate,
      /** Whether a client made a key with a grant that is still there. */
      hasOfGrant: repo.hasOfGrant,
      /** Deletes the keys that a client made with a grant. Call it after the revocation, in the same transaction. */
      endWithGrant: repo.removeOfGrant,
      /** Deletes the keys that were made with a token family. Call it after the revocation, in the same transaction. */
      endWithFamily: repo.removeOfFamily
    } as const
  })
}) {}
