import { zipOf, zipPlace } from "#src/shared/us-places.ts"
import { Effect } from "effect"
import { type Listed } from "./Listing.ts"

export const isUnitedStates = (country: string) =>
  /^\s*(|us|usa|u\.s\.|u\.s\.a\.|united states|united states of america)\s*$/i.test(country)

/** Where a business is listed: at its coordinates, or else at the centre of its zip code; and that code's five digits. */
export const placeOf = Effect.fnUntraced(function*({ country, latitude, longitude, zip }: Listed) {
  const isExact = latitude !== null && longitude !== null
  const centre = isExact || !isUnitedStates(country) ? undefined : yield* zipPlace(zip)
  return {
    latitude: centre?.latitude ?? latitude,
    longitude: centre?.longitude ?? longitude,
    isPlaceApproximate: centre !== undefined,
    zip: zipOf(zip) ?? ""
  }
})
