import { type Account, dataOf } from "./account.ts"

export interface Business {
  readonly id: string
  readonly projectId: string
  readonly serverId: string | null
  readonly listingId: string
  readonly name: string
  readonly slug: string
  readonly description: string
  readonly industry: string
  readonly templateType: string
  readonly contact: {
    readonly phone: string
    readonly email: string
    readonly website: string
    readonly address: Readonly<Record<"line1" | "city" | "state" | "zip" | "country", string>>
    readonly coordinates: { readonly lat: number; readonly lng: number } | null
  }
  readonly hours: Readonly<Record<string, unknown>>
  readonly featureFlags: Readonly<Record<string, boolean>>
  readonly integrations: ReadonlyArray<string>
  readonly customFields: Readonly<Record<string, string>>
  readonly verificationLevel: string
  readonly profileCompleteness: number
  readonly updatedAt: string
}

export const businesses = "/api/v1/ready/businesses"

/** A new business of the account, in a project of its own unless one is named. */
export const newBusiness = async (
  owner: Account,
  fields: Readonly<Record<string, unknown>> = {}
): Promise<Business> => {
  const projectId = fields["projectId"] ?? (await owner.project()).id
  return dataOf(
    await owner.post<{ data: Business }>(businesses, { name: "Copper Ladle", ...fields, projectId })
  )
}
