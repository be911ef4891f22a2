import { type Account, dataOf, Holder } from "./account.ts"
import { type Berth } from "./Berth.ts"
import { type Business, businesses } from "./business.ts"
import { listed } from "./documents.ts"
import { freshAddress } from "./http.ts"
import { runSql } from "./sql.ts"

export const composites = "/v1/hub/composites"

export interface Composite {
  readonly id: string
  readonly created_by: string
  readonly userId: string | null
  readonly name: string
  readonly slug: string
  readonly visibility: string
  readonly query_definition: object
  readonly compositeTrust: number
  readonly avgHealthScore: number
  readonly memberCount: number
  readonly skillMdUrl: string
  readonly expiresAt: string | null
  readonly promotedAt: string | null
  readonly createdAt: string
}
export interface Member {
  readonly listing_id: string
  readonly name: string
}
export type Detail = Composite & { readonly members: ReadonlyArray<Member> }
export interface CompositePage {
  readonly data: ReadonlyArray<Composite>
  readonly meta: { readonly cursor: string | null; readonly hasMore: boolean; readonly total: number }
}

/** Somebody who holds a new hub key of the account. */
export const hubKey = async (berth: Berth, account: Account, tier = "partner") => {
  const sent = { body: { tier }, headers: { "x-forwarded-for": freshAddress() } }
  const { key } = dataOf(
    await account.request<{ data: { key: string } }>("POST", "/api/v1/hub/api-keys", sent)
  )
  return new Holder(berth, key)
}

/** A listing in the directory of a city, with the tier and health given. */
export const rated = async (
  berth: Berth,
  owner: Account,
  { city = "Denver", health = 90, tier = 2, ...fields }: {
    readonly city?: string
    readonly health?: number
    readonly tier?: number
    readonly name?: string
    readonly description?: string
  } = {}
): Promise<Business> => {
  const business = await listed(owner, fields)
  await owner.patch(`${businesses}/${business.id}`, { contact: { address: { city, state: "CO" } } })
  await rate(berth, business.listingId, { health, tier })
  return business
}

/** What probes and verification bring about in time. */
export const rate = (
  berth: Pick<Berth, "databaseUrl">,
  listingId: string,
  { health, tier }: { health?: number; tier?: number }
) =>
  runSql(
    berth.databaseUrl,
    "UPDATE listings SET verification_tier = coalesce($2, verification_tier), health_score = coalesce($3, health_score) " +
      "WHERE id = $1",
    [listingId, tier ?? null, health ?? null]
  )

/** A new composite of the holder. */
export const compose = async (
  holder: Pick<Holder, "request">,
  fields: Readonly<Record<string, unknown>> = {}
): Promise<Composite> =>
  dataOf(
    await holder.request<{ data: Composite }>("POST", composites, {
      body: { name: "Denver soups", query_definition: { city: "Denver" }, ...fields }
    })
  )
