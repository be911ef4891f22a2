import { withPolicy } from "#src/accounts/Policy.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { HubKeys } from "#src/hub/HubKeys.ts"
import { isUlid } from "#src/shared/ids.ts"
import { paginate } from "#src/shared/paging.ts"
import { BadQuery } from "#src/shared/query-parameters.ts"
import { traced } from "#src/shared/traced.ts"
import { Effect, Option } from "effect"
import { type PageFields, pageOf } from "./browse-query.ts"
import { compositeOf } from "./composite-of.ts"
import { CompositeMembers } from "./CompositeMembers.ts"
import { CompositesRepo, type Place } from "./CompositesRepo.ts"
import { liveSummaries } from "./live-summaries.ts"
import { summaryOf } from "./Member.ts"
import { byStanding, standingOf } from "./standing.ts"

/** So many standings are renewed in one run, each in this time; one that takes longer stays, and has its next turn. */
const renewedAtOnce = 500
const patience = "5 seconds"

const placePattern = /^([0-3]) (\d{1,9}) (\d{1,5}) (\w{26})$/
const keyOf = ({ health, id, members, trust }: Place) => `${trust} ${members} ${health} ${id}`
const isKey = (text: string) => isUlid(placePattern.exec(text)?.[4] ?? "")
const placeOf = (key: string): Place => {
  const [, trust, members, health, id = ""] = placePattern.exec(key) ?? []
  return { trust: Number(trust), members: Number(members), health: Number(health), id }
}

/** The public composites, best first (contract: Composite skill, browse ordering). */
export class BrowseComposites extends Effect.Service<BrowseComposites>()("composites/BrowseComposites", {
  effect: Effect.gen(function*() {
    const repo = yield* CompositesRepo
    const members = yield* CompositeMembers
    const { reads } = yield* HubKeys
    const summariesOf = liveSummaries(members)
    const view = compositeOf(yield* CurrentSettings)

    /**
     * A page is cut by the stored standings, shows values of this moment, and is ordered by them
     * (docs/decisions/composite-order.md).
     */
    const browse = traced("BrowseComposites.browse")(
      function*(query: PageFields) {
        const request = yield* pageOf(query)
        const { data, meta } = yield* paginate({
          list: "composites",
          request,
          isKey,
          read: (after, count) => repo.browse(after === undefined ? undefined : placeOf(after), count),
          keyOf: (row) => keyOf(row),
          total: (first) => first === undefined ? repo.published() : Effect.succeed(first.total)
        }).pipe(
          Effect.catchTag(
            "BadRequest",
            ({ reason }) => new BadQuery({ issues: [{ path: "cursor", message: reason.replace("cursor: ", "") }] })
          )
        )
        const summaries = yield* summariesOf(data)
        const shown = data.map((row, at) => view(row, summaries[at] ?? summaryOf([])))
        return { data: shown.sort(byStanding), meta }
      },
      withPolicy(reads)
    )

    /** Renews the oldest standings, so that the order follows members that come, go and change. */
    const renew = Effect.gen(function*() {
      const rows = yield* repo.oldestStandings(renewedAtOnce)
      yield* Effect.forEach(rows, (row) =>
        members.summaries([row.queryDefinition]).pipe(
          Effect.timeoutOption(patience),
          Effect.map(Option.flatMapNullable(([summary]) => summary)),
          Effect.map(Option.match({ onNone: () => row, onSome: standingOf })),
          Effect.flatMap((standing) => repo.stand(row.id, standing))
        ), { discard: true })
    })

    return { browse, renew } as const
  })
}) {}
