import { markdownOf } from "#src/format/markdown-text.ts"
import { levelOfTier } from "#src/listings/VerificationLevel.ts"
import { type CompositeMember, rank } from "./Member.ts"
import { type QueryDefinition } from "./QueryDefinition.ts"

const said = (text: string) => `“${markdownOf(text, 100)}”`

/** The conditions of a definition, each to follow "is" or "whose". The texts are its owner's. */
const conditionsOf = (definition: QueryDefinition): ReadonlyArray<string> => {
  const { category, city, health_score_min, lat, listing_ids, listing_tier, lng, radius_miles } = definition
  const { search, state, tags, verification_tier_min, vertical } = definition
  return [
    ...(listing_ids === undefined ? [] : ["named by this composite"]),
    ...(vertical === undefined ? [] : [`of the kind ${said(vertical)}`]),
    ...(category === undefined ? [] : [`in the category ${said(category)}`]),
    ...(tags === undefined ? [] : [`tagged ${tags.map(said).join(" and ")}`]),
    ...(city === undefined ? [] : [`in the city ${said(city)}`]),
    ...(state === undefined ? [] : [state === "" ? "in a place without a state" : `in the state ${said(state)}`]),
    ...(search === undefined ? [] : [`found by ${said(search)}`]),
    ...(radius_miles === undefined ? [] : [`within ${radius_miles} miles of ${lat}, ${lng}`]),
    ...(listing_tier === undefined ? [] : [`of the listing tier ${listing_tier}`]),
    ...(verification_tier_min === undefined || verification_tier_min === 0
      ? []
      : [`verified at least as ${levelOfTier(verification_tier_min)}`]),
    ...(health_score_min === undefined ? [] : [`of health ${health_score_min} or more`])
  ]
}

/** Which businesses a definition selects, in a sentence. */
export const selectionOf = (definition: QueryDefinition) => {
  const { limit } = definition
  const which = limit === undefined ? "the businesses" : `the best ${limit} of the businesses`
  return `${which} of the directory that are ${conditionsOf(definition).join(", ")}`
}

/** Why a listing is a member, and what gives it its place. */
export const reasonsOf = (definition: QueryDefinition, member: CompositeMember): ReadonlyArray<string> => [
  `it is ${conditionsOf(definition).join(", ")}`,
  `it is healthy (${member.health_score})`,
  `score ${rank([member])}: verification ${member.verification_tier} × health ${member.health_score} × listing tier ` +
  member.listing_tier
]
