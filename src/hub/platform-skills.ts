import { packageRoot } from "#src/config/package-root.ts"
import { type Frontmatter, type SkillFile, skillFileOf } from "#src/format/skill-file.ts"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"

const frontmatterOf = (text: string): Frontmatter => {
  const yaml = /^---\n([\s\S]*?)\n---\n/.exec(text)?.[1]
  return parse(yaml ?? "") as Frontmatter
}

/** The platform's own skills: the files of `skills/`, in order of their names. */
export const platformSkills: ReadonlyArray<SkillFile> = (() => {
  const folder = join(packageRoot(), "skills")
  return readdirSync(folder).sort().map((name) => {
    const text = readFileSync(join(folder, name, "SKILL.md"), "utf8")
    return skillFileOf(frontmatterOf(text), text)
  })
})()
