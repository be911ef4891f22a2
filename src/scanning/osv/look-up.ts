import { Effect } from "effect"
import { LRUCache } from "lru-cache"
import { type Finding } from "../Finding.ts"
import { type Package } from "../inventory/Item.ts"
import { ScanError } from "../Scanner.ts"
import { type OsvApi, type Query } from "./Api.ts"
import { type Advisory } from "./schemas.ts"
import { type severityOf } from "./severity.ts"

/** OSV takes 1,000 queries at once. */
const batchSize = 500
const mostRounds = 50
const mostMatches = 50_000
const mostAdvisories = 10_000
const atOnce = 8

interface Match {
  readonly of: Package
  readonly id: string
  readonly modified: string
}

/** What is kept of an advisory: whole ones have texts of any length. */
type Kept = Omit<Finding, "package" | "version" | "fixedVersion"> & {
  readonly withdrawn: boolean
  readonly upstream: ReadonlyArray<string>
  readonly fixes: ReadonlyArray<{ readonly ecosystem: string; readonly name: string; readonly version: string }>
}

const keep = (advisory: Advisory, severity: typeof severityOf): Kept => ({
  id: advisory.id,
  aliases: advisory.aliases ?? [],
  upstream: advisory.upstream ?? [],
  withdrawn: advisory.withdrawn !== undefined && advisory.withdrawn !== null,
  severity: severity(advisory),
  title: (advisory.summary ?? (advisory.details ?? "").split("\n", 1)[0] ?? "").slice(0, 500),
  url: `https://osv.dev/vulnerability/${advisory.id}`,
  fixes: (advisory.affected ?? []).flatMap(({ package: of, ranges }) =>
    (ranges ?? []).filter(({ type }) => type !== "GIT").flatMap(({ events }) =>
      (events ?? []).flatMap(({ fixed }) =>
        of === undefined || of === null || fixed === undefined || fixed === null
          ? []
          : [{ ...of, version: fixed.slice(0, 100) }]
      )
    )
  ).slice(0, 100)
})

const fixedVersion = ({ fixes }: Kept, { ecosystem, name }: Package) =>
  [...new Set(fixes.filter((fix) => fix.name === name && fix.ecosystem === ecosystem).map(({ version }) => version))]
    .join(", ") || null

/** The calculators of CVSS are loaded when there is something to rate. */
const ratings = Effect.promise(() => import("./severity.ts"))

/** Asks OSV which vulnerabilities packages have. */
export const makeLookUp = (api: OsvApi) => {
  /** By id and time of change, so that nothing old is told. */
  const cache = new LRUCache<string, Kept>({ max: 5_000, ttl: 6 * 3_600_000 })

  const matchesOf = Effect.fn("Osv.matches")(function*(packages: ReadonlyArray<Package>) {
    const matches: Array<Match> = []
    let open = packages.map((of) => ({ of, token: undefined as string | undefined }))
    for (let round = 0; open.length > 0; round++) {
      if (round === mostRounds) {
        return yield* new ScanError({ message: `OSV's answers go on after ${mostRounds} pages` })
      }
      const next: typeof open = []
      for (let at = 0; at < open.length; at += batchSize) {
        const asked = open.slice(at, at + batchSize)
        const results = yield* api.batch(asked.map(({ of: { ecosystem, name, version }, token }): Query => ({
          package: { ecosystem, name },
          version,
          ...(token === undefined ? {} : { page_token: token })
        })))
        for (const [place, { next_page_token: token, vulns }] of results.entries()) {
          const of = asked[place]?.of
          if (of === undefined) continue
          for (const { id, modified } of vulns ?? []) matches.push({ of, id, modified: modified ?? "" })
          if (token !== undefined && token !== null && token !== "") next.push({ of, token })
        }
        if (matches.length > mostMatches) {
          return yield* new ScanError({ message: `OSV has more than ${mostMatches} vulnerabilities of the image` })
        }
      }
      open = next
    }
    return matches
  })

  const advisory = Effect.fn("Osv.advisory")(function*(id: string, modified: string) {
    const key = `${id}\n${modified}`
    const known = modified === "" ? undefined : cache.get(key)
    if (known !== undefined) return known
    const { severityOf } = yield* ratings
    const found = keep(yield* api.advisory(id), severityOf)
    // Those of a distribution may leave the rating to what they follow.
    const original = found.severity === "unknown" ? [...found.upstream, ...found.aliases].find(isCve) : undefined
    const followed = original === undefined ? undefined : yield* api.advisoryIfAny(original)
    const rated = followed === undefined ? found : { ...found, severity: severityOf(followed) }
    cache.set(key, rated)
    return rated
  })

  return Effect.fn("Osv.lookUp")(function*(packages: ReadonlyArray<Package>) {
    const matches = yield* matchesOf(packages)
    const ids = new Map(matches.map(({ id, modified }) => [id, modified]))
    if (ids.size > mostAdvisories) {
      return yield* new ScanError({ message: `OSV has more than ${mostAdvisories} vulnerabilities of the image` })
    }
    const known = new Map<string, Kept>()
    yield* Effect.forEach(
      ids,
      ([id, modified]) => Effect.map(advisory(id, modified), (found) => known.set(id, found)),
      { concurrency: atOnce, discard: true }
    )
    return matches.flatMap(({ id, of }): ReadonlyArray<Finding> => {
      const found = known.get(id)
      if (found === undefined || found.withdrawn) return []
      const { severity, title, upstream, url } = found
      const aliases = [...found.aliases, ...upstream.length === 1 ? upstream : []]
      return [{
        id,
        aliases,
        package: of.name,
        version: of.version,
        fixedVersion: fixedVersion(found, of),
        severity,
        title,
        url
      }]
    })
  })
}

const isCve = (id: string) => /^CVE-\d{4}-\d{4,10}$/.test(id)
