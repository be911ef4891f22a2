import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, Unauthorized, withPolicy } from "#src/accounts/Policy.ts"
import { isId, newId } from "#src/shared/ids.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { transactionally } from "#src/shared/sql.ts"
import { digestOf, isKey, newKey } from "#src/shared/tokens.ts"
import { SqlClient } from "@effect/sql"
import { Clock, Duration, Effect, Option } from "effect"
import { ApiKeyId, type ApiKeyInput, ApiKeyNotFound, TooManyKeys } from "./ApiKey.ts"
import { ApiKeysRepo, type Origin } from "./ApiKeysRepo.ts"
import { Projects } from "./Projects.ts"

const prefixes = { live: "svc_live_", test: "svc_test_" } as const
const keysPerProject = 100
/** `lastUsedAt` is kept to the minute: a busy key does not write on every request. */
const touchAfter = Duration.toMillis("1 minute")

/** Platform API keys. Managed by sessions only. */
export class ApiKeys extends Effect.Service<ApiKeys>()("projects/ApiKeys", {
  effect: Effect.gen(function*() {
    const repo = yield* ApiKeysRepo
    const projects = yield* Projects
    const sql = yield* SqlClient.SqlClient

    /** A client's key comes of what its user granted it, which may have been revoked since its token was checked. */
    const origin = Effect.gen(function*() {
      const { credential } = yield* CurrentActor
      if (credential.kind !== "oauth") return { grantId: null, familyId: null } satisfies Origin
      return yield* Option.match(yield* repo.standing(credential.familyId), {
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
        total: repo.total(project.id)
      })
    }, withPolicy(sessionOnly))

    const remove = Effect.fn("ApiKeys.remove")(function*(id: string) {
      const { accountId } = yield* CurrentActor
      const removed = isId("key", id) ? yield* repo.remove(id, accountId) : Option.none()
      if (Option.isNone(removed)) return yield* new ApiKeyNotFound()
    }, withPolicy(sessionOnly))

    /** Who a platform key stands for; none when it is unknown, deleted or expired. A typo costs no query. */
    const authenticate = Effect.fn("ApiKeys.authenticate")(function*(key: string) {
      if (!isKey(Object.values(prefixes), key)) return Option.none<Actor>()
      const now = yield* Clock.currentTimeMillis
      const found = yield* repo.holder(digestOf(key), new Date(now))
      if (Option.isNone(found)) return Option.none<Actor>()
      const { accountId, email, environment, id, lastUsedAt, plan, projectId, scopes } = found.value
      if (lastUsedAt === null || now - lastUsedAt.getTime() > touchAfter) yield* repo.touch(id)
      const credential = { kind: "key" as const, id, projectId, environment, scopes: new Set(scopes) }
      return Option.some<Actor>({ accountId, email, plan, credential })
    })

    return {
      create,
      list,
      remove,
      authenticate,
      /** Ends the keys that a client made with a grant; in the transaction that revokes it, after that. */
      endWithGrant: repo.removeOfGrant,
      /** Ends the keys that were made with tokens of a family; in the transaction that revokes it, after that. */
      endWithFamily: repo.removeOfFamily
    } as const
  })
}) {}
