import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { byHubReader, bySessionOrHubKey, mayDo, withPolicy } from "#src/accounts/Policy.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { HubKeys } from "#src/hub/HubKeys.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { isUlid, newUlid } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { slugOf } from "#src/shared/slug.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"
import { refuseAgentVisibility } from "./agent-visibility.ts"
import { compositeOf } from "./composite-of.ts"
import {
  agentCompositesPerAccount,
  AlreadyPromoted,
  BadCompositeId,
  type ChangedComposite,
  CompositeNotFound,
  keptCompositesPerAccount,
  type NewComposite,
  type OwnComposites,
  SystemComposite,
  TooManyAgentComposites,
  TooManyComposites
} from "./Composite.ts"
import { CompositeMembers } from "./CompositeMembers.ts"
import { type CompositeRow, CompositesRepo } from "./CompositesRepo.ts"
import { liveSummaries } from "./live-summaries.ts"
import { mayPromote } from "./may-promote.ts"
import { summaryOf } from "./Member.ts"
import { placeIssues } from "./place-texts.ts"
import { checkCircle, mostMembers, type QueryDefinition } from "./QueryDefinition.ts"
import { standingOf } from "./standing.ts"

/** Contract: Limits, agent composite lifetime. */
const lifetime = 30 * 86_400_000
/** Contract: Limits, own composites per list call. */
const mostListed = 200

/** Its end is of the id, so that no two are alike. */
const slugFor = (name: string, id: string) => `${slugOf(name, "composite")}-${id.slice(-10).toLowerCase()}`

const checkDefinition = (definition: QueryDefinition) => {
  const issues = placeIssues(definition).map(({ message, path }) => ({ path: `query_definition.${path}`, message }))
  return issues.length > 0 ? new Invalid({ issues }) : checkCircle(definition)
}

/** Composites that accounts make, and reads of every one (contract: Composite skill). */
export class Composites extends Effect.Service<Composites>()("composites/Composites", {
  effect: Effect.gen(function*() {
    const repo = yield* CompositesRepo
    const members = yield* CompositeMembers
    const hubKeys = yield* HubKeys
    const quotas = yield* Quotas
    const settings = yield* CurrentSettings
    const sql = yield* SqlClient.SqlClient
    const summariesOf = liveSummaries(members)
    const view = compositeOf(settings)

    const summaryFor = (definition: CompositeRow["queryDefinition"]) =>
      Effect.map(members.summaries([definition]), ([summary = summaryOf([])]) => summary)

    /** With its values of this moment, which become its standing. */
    const stood = Effect.fnUntraced(function*(row: CompositeRow) {
      const summary = yield* summaryFor(row.queryDefinition)
      yield* repo.stand(row.id, standingOf(summary))
      return view(row, summary)
    })

    const detailOf = Effect.fnUntraced(function*(row: CompositeRow) {
      const found = yield* members.resolve(row.queryDefinition)
      const isAll = row.queryDefinition.limit !== undefined || found.length < mostMembers
      return { composite: view(row, isAll ? summaryOf(found) : yield* summaryFor(row.queryDefinition)), members: found }
    })

    /** A client that was not let into the account sees the public ones. */
    const isVisible = (caller: Actor, row: CompositeRow) =>
      row.visibility === "public" || row.userId === caller.accountId && mayDo(caller, "sessionOrHubKey")

    const orNotFound = (caller: Actor, row: Option.Option<CompositeRow>, asked: { readonly id?: string } = {}) =>
      Option.isSome(row) && isVisible(caller, row.value) ? Effect.succeed(row.value) : new CompositeNotFound(asked)

    /** Fails for one that the caller may not read. */
    const checkReadable = Effect.fn("Composites.checkReadable")(function*(id: string) {
      yield* orNotFound(yield* CurrentActor, yield* repo.find(id, yield* now), { id })
    })

    /** One that the caller may read, with its members of this moment: public, or its account's own. */
    const readable = Effect.fn("Composites.readable")(
      function*({ caller, id }: { readonly caller: Actor; readonly id: string }) {
        if (!isUlid(id)) return yield* new BadCompositeId()
        return yield* detailOf(yield* orNotFound(caller, yield* repo.find(id, yield* now), { id }))
      }
    )

    /** The same by its slug. */
    const readableBySlug = Effect.fn("Composites.readableBySlug")(
      function*({ caller, slug }: { readonly caller: Actor; readonly slug: string }) {
        return yield* detailOf(yield* orNotFound(caller, yield* repo.findBySlug(slug, yield* now)))
      }
    )

    const get = Effect.fn("Composites.get")(function*(id: string) {
      const { composite, members } = yield* readable({ id, caller: yield* CurrentActor })
      return { ...composite, members }
    }, withPolicy(byHubReader))

    /** The account's, newest first. */
    const mine = Effect.fn("Composites.mine")(function*() {
      const { accountId } = yield* CurrentActor
      const rows = yield* repo.ofAccount(accountId, yield* now, mostListed + 1)
      const shown = rows.slice(0, mostListed)
      const summaries = yield* summariesOf(shown)
      const data = shown.map((row, at) => view(row, summaries[at] ?? summaryOf([])))
      return (rows.length > mostListed ? { data, truncated: true } : { data }) satisfies OwnComposites
    }, withPolicy(bySessionOrHubKey))

    const admitAgent = Effect.fnUntraced(function*(accountId: string, at: Date) {
      yield* quotas.lock(accountId)
      if ((yield* repo.agents(accountId, at)) >= agentCompositesPerAccount) return yield* new TooManyAgentComposites()
    })

    const admitKept = Effect.fnUntraced(function*(accountId: string) {
      yield* quotas.lock(accountId)
      if ((yield* repo.kept(accountId)) >= keptCompositesPerAccount) return yield* new TooManyComposites()
    })

    const create = Effect.fn("Composites.create")(
      function*(input: typeof NewComposite.Type) {
        const { description, name, query_definition: queryDefinition, visibility } = input
        const { accountId, credential } = yield* CurrentActor
        const isAgent = credential.kind === "hub"
        yield* refuseAgentVisibility(input)
        yield* checkDefinition(queryDefinition)
        const at = yield* now
        yield* isAgent ? admitAgent(accountId, at) : admitKept(accountId)
        const id = newUlid()
        const row = yield* repo.insert({
          id,
          createdBy: isAgent ? "agent" : "user",
          userId: accountId,
          name,
          slug: slugFor(name, id),
          description,
          visibility: isAgent ? "private" : visibility ?? "private",
          queryDefinition,
          expiresAt: isAgent ? new Date(at.getTime() + lifetime) : null
        })
        return yield* stood(row)
      },
      transactionally(sql),
      withPolicy(bySessionOrHubKey)
    )

    /** Locks a composite that is the caller's to change. */
    const lockOwn = Effect.fnUntraced(function*(id: string) {
      const caller = yield* CurrentActor
      if (!isUlid(id)) return yield* new BadCompositeId()
      const row = yield* orNotFound(caller, yield* repo.lock(id, yield* now), { id })
      if (row.createdBy === "system") return yield* new SystemComposite()
      if (row.userId !== caller.accountId) return yield* new CompositeNotFound({ id })
      return row
    })

    const update = Effect.fn("Composites.update")(
      function*(id: string, { query_definition, ...rest }: typeof ChangedComposite.Type) {
        const row = yield* lockOwn(id)
        const changes = { ...rest, ...(query_definition === undefined ? {} : { queryDefinition: query_definition }) }
        if (Object.keys(changes).length === 0) return yield* Invalid.field("", "at least one field is required")
        if (query_definition !== undefined) yield* checkDefinition(query_definition)
        if (row.createdBy === "agent" && (rest.visibility ?? row.visibility) !== row.visibility) {
          return yield* Invalid.field(
            "visibility",
            row.promotedAt === null
              ? "an agent composite is private; promote it to make it public"
              : "a promoted composite is public; delete it to take it back"
          )
        }
        return yield* stood(yield* repo.change(id, changes))
      },
      transactionally(sql),
      withPolicy(bySessionOrHubKey)
    )

    const remove = Effect.fn("Composites.remove")(
      function*(id: string) {
        yield* repo.delete((yield* lockOwn(id)).id)
      },
      transactionally(sql),
      withPolicy(bySessionOrHubKey)
    )

    /** Contract: Composite skill, promotion: it stays, is public, and may be browsed. */
    const promote = Effect.fn("Composites.promote")(
      function*(id: string) {
        const row = yield* lockOwn(id)
        if (row.promotedAt !== null) return yield* new AlreadyPromoted()
        if (row.expiresAt !== null) yield* admitKept((yield* CurrentActor).accountId)
        return yield* stood(yield* repo.promote(row.id, yield* now))
      },
      transactionally(sql),
      withPolicy(mayPromote(hubKeys))
    )

    const purge = Effect.flatMap(now, repo.purge)

    return { create, mine, get, update, remove, promote, readable, readableBySlug, checkReadable, purge } as const
  })
}) {}
