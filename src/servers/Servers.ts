import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, seesProject, withPolicy } from "#src/accounts/Policy.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { type PlanName, plans } from "#src/plans/Plan.ts"
import { autoStopRefusal, regionRefusal } from "#src/plans/PlanLimitReached.ts"
import { Projects } from "#src/projects/Projects.ts"
import { ImageRegistries } from "#src/registries/ImageRegistries.ts"
import { tellHere } from "#src/shared/changes.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { isId, newId } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { PlatformEvents } from "#src/shared/PlatformEvents.ts"
import { isReservedSlug, slugOf, withSuffix } from "#src/shared/slug.ts"
import { transactionally } from "#src/shared/sql.ts"
import { randomToken } from "#src/shared/tokens.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"
import { publicUrl } from "./addresses.ts"
import { checkAuth, type ConfigureAuth } from "./ByoaConfig.ts"
import { type EgressChange, tooMany, widened } from "./Egress.ts"
import { requiresMcp } from "./requires-mcp.ts"
import {
  type CreateServer,
  newServer,
  type Server,
  ServerId,
  ServerNotFound,
  type ServerRow,
  SlugTaken,
  type UpdateServer
} from "./Server.ts"
import { ServersRepo, type Span } from "./ServersRepo.ts"

/** Warns the owner of a list: an address by itself proves nothing. */
const listNotice = "Only those of allowedEmails may pass whose accounts the operator of this platform has verified, " +
  "and you: anybody can sign up with any address. Ask the operator to verify them (berth admin verify)"

const reads = withPolicy(anyScope("servers:read"))
const writes = withPolicy(anyScope("servers:write"))

export class Servers extends Effect.Service<Servers>()("servers/Servers", {
  effect: Effect.gen(function*() {
    const repo = yield* ServersRepo
    const projects = yield* Projects
    const quotas = yield* Quotas
    const registries = yield* ImageRegistries
    const events = yield* PlatformEvents
    const settings = yield* CurrentSettings
    const sql = yield* SqlClient.SqlClient

    const shown = (row: ServerRow, plan: PlanName, mcpRequired: boolean): Server => ({
      ...row,
      egress: row.egress ?? plans[plan].egress,
      mcpRequired,
      deploymentsKept: plans[plan].deploymentsKept,
      asleep: row.asleepAt !== null,
      ...(row.access === "list" ? { notice: listNotice } : {}),
      subdomain: `${row.slug}.${settings.mcpDomain}`,
      publicUrl: publicUrl(settings, row.slug)
    })

    /** Of these servers those whose deployment, under way or serving, must speak MCP. */
    const requiringMcp = Effect.fn("Servers.requiringMcp")((ids: ReadonlyArray<string>) =>
      Effect.map(repo.mcpCircumstances(ids), (rows) => new Set(rows.filter(requiresMcp).map(({ id }) => id)))
    )

    /** The caller's servers, as they are answered. */
    const views = (rows: ReadonlyArray<ServerRow>) =>
      Effect.zipWith(
        CurrentActor,
        requiringMcp(rows.map(({ id }) => id)),
        ({ plan }, required) => rows.map((row) => shown(row, plan, required.has(row.id)))
      )

    const view = (row: ServerRow) =>
      Effect.zipWith(
        CurrentActor,
        requiringMcp([row.id]),
        ({ plan }, required) => shown(row, plan, required.has(row.id))
      )

    /** The server, if the caller may see it, with any scopes. Every other operation on a server starts here. */
    const visible = Effect.fn("Servers.visible")(function*(id: string) {
      const actor = yield* CurrentActor
      const row = isId("srv", id) ? yield* repo.find(id) : Option.none()
      if (Option.isNone(row) || row.value.accountId !== actor.accountId) return yield* new ServerNotFound()
      return seesProject(actor, row.value.projectId) ? row.value : yield* new ServerNotFound()
    })

    const viewOrNotFound = Option.match({
      onNone: () => new ServerNotFound(),
      onSome: view
    })

    const pickSlug = Effect.fn("Servers.pickSlug")(
      function*(requested: string | undefined, name: string, account: string) {
        if (requested !== undefined) {
          if (isReservedSlug(requested)) return yield* Invalid.field("slug", `${requested} is a reserved word`)
          return (yield* repo.reserveSlug(requested, account)) ? requested : yield* new SlugTaken({ slug: requested })
        }
        const base = slugOf(name, "server")
        let slug = isReservedSlug(base) ? withSuffix(base) : base
        while (!(yield* repo.isFree(slug)) || !(yield* repo.reserveSlug(slug, account))) slug = withSuffix(base)
        return slug
      }
    )

    const create = Effect.fn("Servers.create")(
      function*(projectId: string, input: typeof CreateServer.Type) {
        const actor = yield* CurrentActor
        const project = yield* projects.visible(projectId)
        yield* regionRefusal(actor.plan, input.region) ?? Effect.void
        yield* autoStopRefusal(actor.plan, input.autoStopSeconds) ?? Effect.void
        yield* quotas.admit("servers", repo.total({ accountId: actor.accountId }))
        const row = yield* repo.insert({
          ...input,
          egress: input.egress ?? null,
          registryCredential: yield* registries.named(input.registryCredential ?? null),
          id: ServerId.make(newId("srv")),
          projectId: project.id,
          slug: yield* pickSlug(input.slug, input.name, actor.accountId),
          rollbackOnHealthCheckFailure: newServer.rollbackOnHealthCheckFailure,
          deploymentRetentionCount: newServer.deploymentRetentionCount,
          replayToken: randomToken()
        })
        return yield* view(row)
      },
      transactionally(sql),
      writes
    )

    const pageOf = (span: Span, request: PageRequest) =>
      paginate({
        list: `servers ${Object.values(span).join("")}`,
        request,
        isKey: (text) => isId("srv", text),
        read: (after, count) => Effect.flatMap(repo.page(span, after, count), views),
        keyOf: (server) => server.id,
        total: () => repo.total(span)
      })

    /** Servers of all the account's projects, or of the API key's project. */
    const list = Effect.fn("Servers.list")(function*(request: PageRequest) {
      const { accountId, credential } = yield* CurrentActor
      return yield* pageOf(credential.kind === "key" ? { projectId: credential.projectId } : { accountId }, request)
    }, reads)

    const listOf = Effect.fn("Servers.listOf")(function*(projectId: string, request: PageRequest) {
      const project = yield* projects.visible(projectId)
      return yield* pageOf({ projectId: project.id }, request)
    }, reads)

    const get = Effect.fn("Servers.get")((id: string) => Effect.flatMap(visible(id), view), reads)

    /** What is stored of a change. Hosts are added under the row's lock: of two changes at once none loses the other's. */
    const egressAfter = Effect.fnUntraced(function*(id: ServerId, change: EgressChange) {
      if (change === null || typeof change === "string") return change
      if (change.add === undefined) return { allow: change.allow ?? [] }
      yield* repo.lock(id)
      const { egress } = yield* Effect.flatten(repo.find(id))
      const now = egress ?? plans[(yield* CurrentActor).plan].egress
      // What is allowed already stays as it is: the plan's default too.
      if (now === "internet") return egress
      return widened(now, change.add) ?? (yield* Invalid.field("egress.add", tooMany))
    }, Effect.catchTag("NoSuchElementException", () => new ServerNotFound()))

    const write = Effect.fn("Servers.write")(function*(
      id: ServerId,
      { egress, registryCredential, ...fields }: typeof UpdateServer.Type,
      begun: { readonly runningSince?: Date }
    ) {
      // It locks the account, which comes before its servers.
      const named = registryCredential === undefined
        ? {}
        : { registryCredential: yield* registries.named(registryCredential) }
      const change = egress === undefined ? {} : { egress: yield* egressAfter(id, egress) }
      return yield* repo.update(id, { ...fields, ...named, ...change, ...begun })
    }, transactionally(sql))

    /** What follows from the setting counts for whoever has the answer (docs/images.md, "Hosts outside"). */
    const tellChanged = ({ id, slug }: ServerRow) => tellHere("server_changed", `${id} ${slug}`)

    const update = Effect.fn("Servers.update")(function*(id: string, input: typeof UpdateServer.Type) {
      const server = yield* visible(id)
      if (Object.keys(input).length === 0) return yield* Invalid.field("", "at least one field is required")
      const { autoStopSeconds } = input
      // What a server has already is no change (docs/decisions/smaller-plans.md).
      if (autoStopSeconds !== server.autoStopSeconds) {
        yield* autoStopRefusal((yield* CurrentActor).plan, autoStopSeconds) ?? Effect.void
      }
      // Use is not told of servers that never sleep: the time that counts begins now.
      const begun = autoStopSeconds === undefined ? {} : { runningSince: yield* now }
      const changed = yield* write(server.id, input, begun)
      yield* tellChanged(server)
      return yield* viewOrNotFound(changed)
    }, writes)

    const configureAuth = Effect.fn("Servers.configureAuth")(function*(id: string, input: typeof ConfigureAuth.Type) {
      const server = yield* visible(id)
      yield* checkAuth(input, !settings.production)
      const { allowedEmails, byoaConfig, ...rest } = input
      const emails = allowedEmails?.map((email) => email.toLowerCase())
      const changed = yield* repo.configureAuth(server.id, byoaConfig ?? null, {
        ...rest,
        ...(emails === undefined ? {} : { allowedEmails: [...new Set(emails)] })
      })
      yield* tellChanged(server)
      return yield* viewOrNotFound(changed)
    }, writes)

    /**
     * A business is locked before its server, as whoever links one does it; then those that linked it just before the
     * lock.
     */
    const deleteRow = Effect.fn("Servers.deleteRow")(function*(id: ServerId) {
      yield* events.tell("deletingServer", id)
      yield* repo.lock(id)
      yield* events.tell("deletingServer", id)
      yield* repo.delete(id)
    }, transactionally(sql))

    const remove = Effect.fn("Servers.remove")(function*(id: string) {
      const server = yield* visible(id)
      yield* events.tell("goingServers", [server.id])
      yield* deleteRow(server.id)
      yield* events.tell("goneServers", [server.id])
    }, writes)

    return { create, list, listOf, get, update, configureAuth, remove, visible, view, requiringMcp } as const
  })
}) {}
