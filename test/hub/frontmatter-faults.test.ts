import { readFrontmatter } from "#src/hub/read-frontmatter.ts"
import { expect, it } from "vitest"

it.each([
  ["name: a\ndescription: Use when: the user asks", 2, 14, "description: \"Use when: the user asks\""],
  ["name: a\nargument-hint: [action] — what to do", 2, 25, "argument-hint: \"[action] — what to do\""],
  ["description: @foo bar\nname: a", 1, 14, "description: \"@foo bar\""],
  ["description: Say \"hi\": it \\ answers", 1, 14, "description: \"Say \\\"hi\\\": it \\\\ answers\""]
])("a frontmatter that is not valid YAML is refused with line, column and cure: %j", (text, line, column, cured) => {
  const where = `is not valid YAML in its line ${line}, column ${column}: `
  let message = ""
  try {
    readFrontmatter(text)
  } catch (error) {
    message = (error as Error).message
  }
  expect(message.slice(0, where.length)).toBe(where)
  expect(message).toContain(`. Put the text in quotation marks: ${cured}`)
  const mended = text.split("\n").map((each, at) => at + 1 === line ? cured : each).join("\n")
  expect(readFrontmatter(mended)).toBeTypeOf("object")
})

it("a frontmatter of a thousand tools is read, and one of thousands of keys refused", () => {
  const tools = Array.from({ length: 1_000 }, (_, n) => `  - name: tool_${n}\n    description: does a thing`)
  expect(readFrontmatter(`tools:\n${tools.join("\n")}`)).toHaveProperty(["tools", 999, "name"], "tool_999")
  const keys = Array.from({ length: 6_000 }, (_, n) => `k${n}: a`)
  expect(() => readFrontmatter(keys.join("\n"))).toThrow("has too many entries")
})
