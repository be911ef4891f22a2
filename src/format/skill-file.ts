import { createHash } from "node:crypto"
import { stringify } from "yaml"

/** What a SKILL.md says of itself: `name` and `description`, and other keys (Agent Skills, Frontmatter). */
export interface Frontmatter {
  readonly name: string
  readonly description: string
  readonly [key: string]: unknown
}

/** A skill that is one file. `size` and `digest` are those of the bytes that are served. */
export interface SkillFile {
  readonly frontmatter: Frontmatter
  readonly text: string
  readonly size: number
  /** `sha256:` and 64 hexadecimal digits (Agent Skills discovery 0.2.0; SEP-2640, Skill Entries). */
  readonly digest: string
}

/** Agent Skills, name: 1 to 64 of a–z, 0–9 and single inner hyphens. */
export const isSkillName = (text: string) => text.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text)

/** Agent Skills, description. Readers count UTF-16 units. */
export const mostDescription = 1_024

export const skillFileOf = (frontmatter: Frontmatter, text: string): SkillFile => {
  const bytes = Buffer.from(text)
  return {
    frontmatter,
    text,
    size: bytes.length,
    digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`
  }
}

/**
 * A description that every reader takes and none renders: `<` and `>` are refused by strict ones (Agent Skills, skills-ref),
 * and a client that shows it as Markdown would load its images.
 */
const strict = (description: string) =>
  description.replace(/!\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, "$1").replace(/!+\[/g, "[")
    .replaceAll("<", "‹").replaceAll(">", "›")

/** Writes a SKILL.md. Some readers end the frontmatter at any three hyphens, so those in a value are written apart. */
export const skillFile = (given: Frontmatter, body: ReadonlyArray<string>): SkillFile => {
  const frontmatter = { ...given, description: strict(given.description) }
  const yaml = stringify(frontmatter, { lineWidth: 0, defaultStringType: "QUOTE_DOUBLE", defaultKeyType: "PLAIN" })
  return skillFileOf(frontmatter, `---\n${yaml.trimEnd().replaceAll("---", "--\\x2D")}\n---\n\n${body.join("\n")}\n`)
}
