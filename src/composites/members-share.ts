import { type McpFeatures } from "#src/servers/McpFeatures.ts"
import { jsonWeight } from "#src/shared/json-weight.ts"

/** Values of definitions that a composite merges: more of them would stop everybody's calls, and not be kept. */
const mostValues = 100_000
/** A text counts as a value for so many letters: `find_tools` reads them all. */
const lettersOfValue = 20

export const weightOf = (definitions: unknown): number =>
  Math.max(jsonWeight(definitions).nodes, JSON.stringify(definitions).length / lettersOfValue)

/** What each may weigh: whoever needs less than an equal share leaves the rest to the others. */
const shareOf = (weights: ReadonlyArray<number>, most: number): number => {
  let room = most
  let left = weights.length
  for (const weight of weights.toSorted((one, other) => one - other)) {
    if (weight > room / left) return room / left
    room -= weight
    left--
  }
  return Infinity
}

/** Those definitions of a member for which its share has room, in its order; tools before all else. */
const within = ({ prompts, resources, templates, tools }: McpFeatures, share: number): McpFeatures => {
  let room = share
  const fitting = <A>(list: ReadonlyArray<A>) =>
    list.filter((one) => {
      const weight = weightOf(one)
      if (weight > room) return false
      room -= weight
      return true
    })
  return {
    tools: fitting(tools),
    prompts: fitting(prompts),
    resources: fitting(resources),
    templates: fitting(templates)
  }
}

/**
 * The members' definitions as far as a composite has room for them. A member that has more than its share loses what is
 * over it, and takes nothing from the others.
 */
export const inShares = <A extends { readonly features: McpFeatures }>(
  members: ReadonlyArray<A>,
  most = mostValues
): ReadonlyArray<A> => {
  const weighed = members.map((member) => ({ member, weight: weightOf(member.features) }))
  const share = shareOf(weighed.map(({ weight }) => weight), most)
  return weighed.map(({ member, weight }) =>
    weight > share ? { ...member, features: within(member.features, share) } : member
  )
}
