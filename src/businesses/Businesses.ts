import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { seesProject, sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { type UpdateListing } from "#src/listings/Listing.ts"
import { Listings } from "#src/listings/Listings.ts"
import { Projects } from "#src/projects/Projects.ts"
import { Servers } from "#src/servers/Servers.ts"
import { StaleTools } from "#src/servers/StaleTools.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { isUlid, newUlid } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { slugOf, withSuffix } from "#src/shared/slug.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"
import { changedColumns, integrationsContext, view } from "./business-columns.ts"
import { BusinessId, BusinessNotFound, type BusinessRow, type CreateBusiness, type UpdateBusiness } from "./Business.ts"
import { BusinessesRepo } from "./BusinessesRepo.ts"
import { servedTools } from "./served-tools.ts"
import { Standing } from "./Standing.ts"
import { levelOf } from "./verification-level.ts"

/** Businesses and their profiles. Owned by an account through their project. */
export class Businesses extends Effect.Service<Businesses>()("businesses/Businesses", {
  effect: Effect.gen(function*() {
    const repo = yield* BusinessesRepo
    const listings = yield* Listings
    const projects = yield* Projects
    const quotas = yield* Quotas
    const servers = yield* Servers
    const secrets = yield* Secrets
    const standing = yield* Standing
    const staleTools = yield* StaleTools
    const sql = yield* SqlClient.SqlClient

    const orNotFound = (row: Option.Option<BusinessRow>) =>
      Option.match(row, { onNone: () => new BusinessNotFound(), onSome: Effect.succeed })

    /** The business if it is the caller's; doesn't check scopes. Other services call it first to authorize. */
    const visible = Effect.fn("Businesses.visible")(function*(id: string) {
      const actor = yield* CurrentActor
      const row = yield* orNotFound(isUlid(id) ? yield* repo.find(id) : Option.none())
      const own = row.accountId === actor.accountId && seesProject(actor, row.projectId)
      return own ? row : yield* new BusinessNotFound()
    })

    /** Undefined when there are none. */
    const openIntegrations = Effect.fn("Businesses.openIntegrations")(function*(
      row: Pick<BusinessRow, "id" | "sealedIntegrations">
    ) {
      if (row.sealedIntegrations === null) return undefined
      const text = yield* Effect.orDie(secrets.open(row.sealedIntegrations, integrationsContext(row.id)))
      return JSON.parse(text) as Record<string, unknown>
    })

    /** Computes the level anew: the stored one is updated some time after an account reaches the age it needs. */
    const shown = Effect.fn("Businesses.shown")(function*(row: BusinessRow) {
      const integrations = yield* openIntegrations(row)
      return view({ ...row, verificationLevel: levelOf(row, yield* now) }, Object.keys(integrations ?? {}))
    })

    const transaction = transactionally(sql)

    /**
     * Every change to a business or its catalog goes through here: one transaction, serialised for each business, that
     * also updates what depends on it (level, listing, the stored tools of its server). The caller must own the business.
     */
    const changing = Effect.fn("Businesses.changing")(
      function*<A, E, R>(id: string, change: (row: BusinessRow) => Effect.Effect<A, E, R>) {
        const { id: own } = yield* visible(id)
        if (!(yield* repo.lock(own))) return yield* new BusinessNotFound()
        const before = yield* visible(own)
        const result = yield* change(before)
        const row = yield* standing.settle(own)
        if (row.serverId !== null && servedTools(row) !== servedTools(before)) yield* staleTools.mark(row.serverId)
        return { result, row }
      },
      (effect) => transaction(effect)
    )

    const create = Effect.fn("Businesses.create")(
      function*(input: typeof CreateBusiness.Type) {
        const project = yield* projects.visible(input.projectId)
        yield* quotas.admit("businesses", repo.total(project.accountId))
        const insert = (slug: string) =>
          repo.insert({
            id: BusinessId.make(newUlid()),
            projectId: project.id,
            name: input.name,
            slug,
            description: input.description ?? "",
            industry: input.industry ?? input.templateType,
            templateType: input.templateType
          })
        const slug = slugOf(input.name, "business")
        let row = yield* insert(slug)
        while (row === undefined) row = yield* insert(withSuffix(slug))
        yield* listings.create({ ...row, profileCompleteness: 0, healthScore: 0 })
        return yield* shown(yield* Effect.orDie(standing.settle(row.id)))
      },
      transaction,
      withPolicy(sessionOnly)
    )

    const list = Effect.fn("Businesses.list")(function*(request: PageRequest) {
      const { accountId } = yield* CurrentActor
      return yield* paginate({
        list: `businesses ${accountId}`,
        request,
        isKey: isUlid,
        read: (after, count) => Effect.flatMap(repo.page(accountId, after, count), Effect.forEach(shown)),
        keyOf: (business) => business.id,
        total: () => repo.total(accountId)
      })
    }, withPolicy(sessionOnly))

    const get = Effect.fn("Businesses.get")((id: string) => Effect.flatMap(visible(id), shown), withPolicy(sessionOnly))

    const checkServer = Effect.fn("Businesses.checkServer")(function*(row: BusinessRow, serverId: string) {
      const server = yield* servers.visible(serverId)
      if (server.projectId !== row.projectId) {
        return yield* Invalid.field("serverId", "is a server of another project than the business's")
      }
    })

    const edit = (input: typeof UpdateBusiness.Type) =>
      Effect.fn("Businesses.edit")(function*(row: BusinessRow) {
        const { integrations, serverId } = input
        if (typeof serverId === "string") yield* checkServer(row, serverId)
        const columns = changedColumns(row, input)
        const sealed = integrations === undefined ? {} : {
          sealedIntegrations: integrations === null
            ? null
            : yield* secrets.seal(JSON.stringify(integrations), integrationsContext(row.id))
        }
        yield* repo.edit(row.id, { ...columns, ...sealed })
      }, Effect.catchTag("ServerNotFound", () => Invalid.field("serverId", "there is no such server")))

    const notEmpty = Effect.fn("Businesses.notEmpty")(function*(id: string, input: object) {
      if (Object.keys(input).length > 0) return
      yield* visible(id)
      return yield* Invalid.field("", "at least one field is required")
    })

    const update = Effect.fn("Businesses.update")(function*(id: string, input: typeof UpdateBusiness.Type) {
      yield* notEmpty(id, input)
      return yield* shown((yield* changing(id, edit(input))).row)
    }, withPolicy(sessionOnly))

    const remove = Effect.fn("Businesses.remove")(function*(id: string) {
      yield* repo.delete((yield* visible(id)).id)
    }, withPolicy(sessionOnly))

    const updateListing = Effect.fn("Businesses.updateListing")(
      function*(id: string, input: typeof UpdateListing.Type) {
        yield* notEmpty(id, input)
        const { categories: ownCategories, description: ownDescription, name: ownName, ...rest } = input
        const own = {
          ...(ownName === undefined ? {} : { ownName }),
          ...(ownDescription === undefined ? {} : { ownDescription }),
          ...(ownCategories === undefined ? {} : { ownCategories })
        }
        const { row } = yield* changing(id, (row) => listings.change(row.id, { ...rest, ...own }))
        return yield* listings.ofBusiness(row.id)
      },
      withPolicy(sessionOnly)
    )

    return {
      create,
      list,
      get,
      update,
      updateListing,
      remove,
      visible,
      changing,
      /** Sets columns of the business. Call it within `changing`. */
      write: repo.update,
      openIntegrations
    } as const
  })
}) {}
