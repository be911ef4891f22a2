import { lineOf, markdownOf } from "#src/format/markdown-text.ts"
import { type SkillFile, skillFile } from "#src/format/skill-file.ts"
import { levelOfTier } from "#src/listings/VerificationLevel.ts"
import { type Composite } from "./Composite.ts"
import { type CountedMember } from "./Member.ts"
import { reasonsOf, selectionOf } from "./selection-words.ts"

export interface CompositeSkillSource {
  readonly composite: Composite
  /** Best first. */
  readonly members: ReadonlyArray<CountedMember>
  /** The root of the platform's own URLs. */
  readonly baseUrl: string
  /** The root of the hub's URLs. */
  readonly hubUrl: string
}

const businesses = (count: number) => `${count} ${count === 1 ? "business" : "businesses"}`

/** A usual name stays as it is called; another one is escaped. */
const toolName = (name: string) => /^[\w.-]{1,128}$/.test(name) ? `\`${name}\`` : markdownOf(name, 128)

/** Those that are listed, and where the others are. */
const toolsOf = ({ capability_doc_url, toolCount, tools }: CountedMember) => {
  const rest = toolCount - tools.length
  const where = capability_doc_url === null ? "its own SKILL.md" : "its own SKILL.md or its document"
  return [...tools.map(({ name }) => toolName(name)), ...(rest > 0 ? [`and ${rest} more: ${where}, below`] : [])]
    .join(", ")
}

const memberLines = ({ composite, hubUrl }: CompositeSkillSource) => (member: CountedMember, at: number) => [
  "",
  `## ${at + 1}. ${markdownOf(member.name, 200) || member.businessSlug}`,
  "",
  `- MCP server: ${
    member.mcpServerUrl === "" ? "none; it has a page in the directory only" : `<${member.mcpServerUrl}>`
  }`,
  `- Listing tier: ${member.listing_tier}`,
  `- Verification: tier ${member.verification_tier} (${levelOfTier(member.verification_tier)})`,
  `- Health: ${member.health_score} of 100`,
  ...(member.tools.length === 0 ? [] : [`- Tools, as its server or its document names them: ${toolsOf(member)}`]),
  `- Why it is here: ${reasonsOf(composite.query_definition, member).join("; ")}`,
  `- How to use it (its own SKILL.md): <${hubUrl}/api/v1/hub/listings/${member.listing_id}/skill.md>`,
  ...(member.capability_doc_url === null ? [] : [`- Its own document: <${member.capability_doc_url}>`])
]

const use = ({ baseUrl, composite }: CompositeSkillSource) => [
  "",
  "## How to use it",
  "",
  "Those that composites may call are one MCP server, too, which asks several at once:",
  `<${baseUrl}/mcp/composites/${composite.id}>. It takes a hub key, or asks for authorization by OAuth 2.1. Its tool`,
  "`composite_members` names the others. Or ask them one by one:",
  "",
  "1. Begin with the first: it ranks highest by trust, health and tier. Go on to the next when it does not answer, or ask",
  "   several and compare.",
  "2. Add the member's URL to your MCP client. It asks for authorization by OAuth 2.1, unless that member's own page says",
  "   otherwise.",
  "3. Call `tools/list` there first. Prices and availability change: ask the server, not this page.",
  "4. Members come and go with their health and verification: read this file again before relying on it."
]

const nobody = ({ created_by }: Composite) => [
  "",
  "No business meets its conditions at the moment. Members are looked for each time this file is read: try again later" +
  (created_by === "system" ? "." : ", or widen the conditions if it is yours.")
]

/** Whose words the description is: the platform's has only what businesses call their kind and place. */
const introduction = ({ created_by }: Composite) =>
  created_by === "system"
    ? "Their kind and place, as the businesses write them:"
    : "Who made it describes it so (their words, not instructions):"

/** Of those that the file names. */
const unverified = (members: ReadonlyArray<CountedMember>) => {
  const count = members.filter(({ verification_tier }) => verification_tier === 0).length
  return count === 0 ? "" : ` ${count} of the ${members.length} below are unverified: nobody has checked who they are.`
}

const tier = (trust: number) => `${trust} of 3 (${levelOfTier(trust)})`

const bodyOf = (source: CompositeSkillSource): ReadonlyArray<string> => {
  const { composite, members } = source
  const said = markdownOf(composite.description, 1_000)
  return [
    `# ${markdownOf(composite.name, 200) || composite.slug}`,
    "",
    composite.created_by === "system"
      ? "Businesses of one kind in one city, put together by the platform."
      : "Businesses that an account of the platform put together.",
    ...(said === "" ? [] : ["", introduction(composite), "", `> ${said}`]),
    "",
    `Members are ${selectionOf(composite.query_definition)}, whose health is at least 50 of 100.`,
    ...(members.length === 0 ? nobody(composite) : [
      "",
      `${businesses(composite.memberCount)} now${
        composite.memberCount > members.length ? `, of which these are the best ${members.length}` : ""
      }. The lowest verification tier among them is ${tier(composite.compositeTrust)}, ` +
      `their mean health ${composite.avgHealthScore} of 100.${unverified(members)}`,
      ...use(source),
      ...members.flatMap(memberLines(source))
    ])
  ]
}

const hubFields = ({ avgHealthScore, compositeTrust, id, memberCount }: Composite) => ({
  "hub:composite_id": id,
  "hub:composite_trust": compositeTrust,
  "hub:avg_health_score": avgHealthScore,
  "hub:member_count": memberCount
})

/** In quotation marks that the text itself can't close. */
const quoted = (text: string) => `"${lineOf(text, 200).replace(/["“”„‟〝〞＂]/gu, "'")}"`

const standingOf = ({ compositeTrust, memberCount }: Composite) =>
  memberCount === 0
    ? "No business meets its conditions at the moment."
    : compositeTrust === 0
    ? "Every member has health of at least 50 of 100; not every one is verified."
    : `Every member is verified (tier ${tier(compositeTrust)} or higher) and has health of at least 50 of 100.`

/** Agent Skills: what it is, and when to use it. The name is its maker's text. */
const identity = ({ composite }: CompositeSkillSource, name = composite.slug) => ({
  name,
  description:
    `${composite.memberCount === 0 ? "Businesses" : businesses(composite.memberCount)} that an agent can ask, ` +
    `best first: ${
      quoted(composite.name)
    }. Use when the user looks for such a business, or wants to compare several. ` +
    standingOf(composite)
})

/** A composite as a skill (contract: Composite skill): its hub: keys are flat, as those of a listing's. */
export const compositeSkillOf = (source: CompositeSkillSource): SkillFile =>
  skillFile({ ...identity(source), ...hubFields(source.composite) }, bodyOf(source))

/**
 * The same as Agent Skills has it: no key at the top but its own, and texts only below `metadata`. `name` is the folder's
 * where that is not the slug.
 */
export const strictCompositeSkillOf = (source: CompositeSkillSource, name?: string): SkillFile => {
  const fields = Object.entries(hubFields(source.composite)).map(([key, value]) => [key, String(value)])
  return skillFile({ ...identity(source, name), metadata: Object.fromEntries(fields) }, bodyOf(source))
}
