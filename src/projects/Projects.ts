import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, notByKey, seesProject, withPolicy } from "#src/accounts/Policy.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { isId, newId } from "#src/shared/ids.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { PlatformEvents } from "#src/shared/PlatformEvents.ts"
import { slugOf, withSuffix } from "#src/shared/slug.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"
import { ProjectId, type ProjectInput, ProjectNotFound } from "./Project.ts"
import { ProjectsRepo } from "./ProjectsRepo.ts"

type ProjectInput = typeof ProjectInput.Type

const reads = withPolicy(anyScope("servers:read"))
const writes = withPolicy(anyScope("servers:write"))

export class Projects extends Effect.Service<Projects>()("projects/Projects", {
  effect: Effect.gen(function*() {
    const repo = yield* ProjectsRepo
    const quotas = yield* Quotas
    const events = yield* PlatformEvents
    const sql = yield* SqlClient.SqlClient

    /** The project if the caller may see it; doesn't check scopes. Other services call it first to authorize. */
    const visible = Effect.fn("Projects.visible")(function*(id: string) {
      const actor = yield* CurrentActor
      const row = isId("prj", id) ? yield* repo.find(id) : Option.none()
      if (Option.isNone(row) || row.value.accountId !== actor.accountId || !seesProject(actor, row.value.id)) {
        return yield* new ProjectNotFound()
      }
      return row.value
    })

    const create = Effect.fn("Projects.create")(
      function*({ name }: ProjectInput) {
        const { accountId } = yield* CurrentActor
        const insert = (slug: string) => repo.insert({ id: ProjectId.make(newId("prj")), accountId, name, slug })
        const slug = slugOf(name, "project")
        yield* quotas.admit("projects", repo.total(accountId, undefined))
        return (yield* insert(slug)) ?? (yield* Effect.repeat(Effect.suspend(() => insert(withSuffix(slug))), {
          until: (row) => row !== undefined
        }))
      },
      transactionally(sql),
      withPolicy(notByKey)
    )

    const list = Effect.fn("Projects.list")(function*(request: PageRequest) {
      const { accountId, credential } = yield* CurrentActor
      const only = credential.kind === "key" ? credential.projectId : undefined
      return yield* paginate({
        list: `projects ${accountId}`,
        request,
        isKey: (text) => isId("prj", text),
        read: (after, count) => repo.page(accountId, only, after, count),
        keyOf: (project) => project.id,
        total: () => repo.total(accountId, only)
      })
    }, reads)

    const get = Effect.fn("Projects.get")(visible, reads)

    const update = Effect.fn("Projects.update")(function*(id: string, { name }: ProjectInput) {
      const project = yield* visible(id)
      const renamed = yield* repo.rename(project.id, name)
      return yield* Option.match(renamed, { onNone: () => new ProjectNotFound(), onSome: Effect.succeed })
    }, writes)

    /** Locks in the order in which a server's own deletion does, so that both at once do not wait for each other. */
    const deleteRows = Effect.fn("Projects.deleteRows")(function*(id: ProjectId) {
      yield* Effect.forEach(yield* repo.serverIds(id), (server) => events.tell("deletingServer", server), {
        discard: true
      })
      yield* repo.lockServers(id)
      return yield* repo.delete(id)
    }, transactionally(sql))

    const remove = Effect.fn("Projects.remove")(function*(id: string) {
      const project = yield* visible(id)
      yield* events.tell("goingServers", yield* repo.serverIds(project.id))
      yield* events.tell("goneServers", yield* deleteRows(project.id))
    }, writes)

    return { create, list, get, update, remove, visible } as const
  })
}) {}
