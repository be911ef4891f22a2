import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { expect } from "vitest"
import { type Answer } from "./http.ts"
import { type OpenApi, type Operation, resolve } from "./operations.ts"

type Asked = Pick<Operation, "name" | "method" | "path">

/** Whether an answer is what the document says of its status: declared, and with a body of the schema. */
export const fitsOf = (document: OpenApi) => {
  // That the document is valid has a test of its own.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
  // One for each schema: to compile one takes longer than the request whose answer it looks at.
  const compiled = new Map<unknown, ValidateFunction>()
  const validatorOf = (schema: object) => {
    const validator = compiled.get(schema) ?? ajv.compile({ ...schema, components: document.components })
    compiled.set(schema, validator)
    return validator
  }
  return ({ method, name, path }: Asked, answer: Answer) => {
    const where = [name, answer.status]
    const { responses } = document.paths[path]?.[method.toLowerCase()] ?? {}
    const declared = resolve(document, responses?.[String(answer.status)])
    expect([...where, declared === undefined ? `not declared: ${answer.text}` : "declared"]).toEqual([
      ...where,
      "declared"
    ])
    expect([...where, declared?.content === undefined]).toEqual([...where, answer.text === ""])
    const schema = declared?.content?.["application/json"]?.schema
    if (schema === undefined) return
    const validate = validatorOf(schema)
    expect([...where, validate(answer.body), validate.errors]).toEqual([...where, true, null])
  }
}
