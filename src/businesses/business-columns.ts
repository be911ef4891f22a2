import { Struct } from "effect"
import { type Business, type BusinessRow, type UpdateBusiness } from "./Business.ts"

/** What sealed integrations are bound to: they open nowhere else. */
export const integrationsContext = (businessId: string) => `business ${businessId} integrations`

/** A row as its owner sees it; of the integrations, their names. */
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
  contact: {
    phone: row.phone,
    email: row.email,
    website: row.website,
    address: { line1: row.line1, city: row.city, state: row.state, zip: row.zip, country: row.country },
    coordinates: row.latitude === null || row.longitude === null ? null : { lat: row.latitude, lng: row.longitude }
  }
})

/** The columns that a change sets, without the integrations, which are sealed first. */
export const changedColumns = (row: BusinessRow, input: typeof UpdateBusiness.Type) => {
  const { contact = {}, featureFlags, integrations: _integrations, ...plain } = input
  const { address = {}, coordinates, ...lines } = contact
  return {
    ...plain,
    ...lines,
    ...address,
    ...(coordinates === undefined
      ? {}
      : { latitude: coordinates?.lat ?? null, longitude: coordinates?.lng ?? null }),
    ...(featureFlags === undefined ? {} : { featureFlags: { ...row.featureFlags, ...featureFlags } })
  }
}
