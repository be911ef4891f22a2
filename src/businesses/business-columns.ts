import { probeCounts } from "#src/servers/health-history.ts"
import { sealedColumn } from "#src/shared/sealed-column.ts"
import { Struct } from "effect"
import { type Business, type BusinessRow, type UpdateBusiness } from "./Business.ts"

export const sealedIntegrations = sealedColumn("businesses", "sealed_integrations")

/** The context that sealed integrations are bound to: no other can open them. */
export const integrationsContext = (businessId: string) => `business ${businessId} integrations`

/** Builds the contact of a business and of its configuration from the columns. */
export const contactOf = ({ city, country, email, latitude, line1, longitude, phone, state, website, zip }: Pick<
  BusinessRow,
  "city" | "country" | "email" | "latitude" | "line1" | "longitude" | "phone" | "state" | "website" | "zip"
>) => ({
  phone,
  email,
  website,
  address: { line1, city, state, zip, country },
  coordinates: latitude === null || longitude === null ? null : { lat: latitude, lng: longitude }
})

const healthOf = ({ healthHours, healthScore, probedAt, probeFailedAt, probeFailure }: BusinessRow) =>
  healthHours === null ? null : {
    score: healthScore,
    ...probeCounts({ hours: healthHours }),
    lastProbeAt: probedAt,
    lastFailureAt: probeFailedAt,
    lastFailure: probeFailure
  }

/** A row as its owner sees it; `integrations` are names. */
export const view = (row: BusinessRow, integrations: ReadonlyArray<string>): Business => ({
  ...Struct.pick(
    row,
    "id",
    "projectId",
    "serverId",
    "listingId",
    "name",
    "slug",
    "description",
    "category",
    "industry",
    "templateType",
    "hours",
    "featureFlags",
    "customFields",
    "analytics",
    "verificationLevel",
    "profileCompleteness",
    "createdAt",
    "updatedAt"
  ),
  integrations,
  contact: contactOf(row),
  health: healthOf(row)
})

/** While the industry still equals the template type, which is its default, it changes with it. */
const industryOf = (row: BusinessRow, { industry, templateType }: typeof UpdateBusiness.Type) =>
  industry === undefined && templateType !== undefined && row.industry === row.templateType
    ? { industry: templateType }
    : {}

/** The columns that a change sets, without the integrations, which the caller seals. */
export const changedColumns = (row: BusinessRow, input: typeof UpdateBusiness.Type) => {
  const { contact = {}, featureFlags, integrations: _integrations, ...plain } = input
  const { address = {}, coordinates, ...lines } = contact
  return {
    ...plain,
    ...industryOf(row, input),
    ...lines,
    ...address,
    ...(coordinates === undefined
      ? {}
      : { latitude: coordinates?.lat ?? null, longitude: coordinates?.lng ?? null }),
    ...(featureFlags === undefined ? {} : { featureFlags: { ...row.featureFlags, ...featureFlags } })
  }
}
