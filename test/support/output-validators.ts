import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv"
import { type jsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js"

const ajv = new AjvJsonSchemaValidator()
const compiled = new Map<string, ReturnType<typeof ajv.getValidator>>()

/**
 * Checks results as the SDK's own provider does, but compiles a schema when its tool is first called, and once in a
 * process. The SDK's compiles those of all tools whenever a client lists them: a quarter of the suite's time.
 */
export const outputValidators: jsonSchemaValidator = {
  getValidator: <T>(schema: Parameters<typeof ajv.getValidator<T>>[0]) => {
    const key = JSON.stringify(schema)
    return (input: unknown) => {
      const validate = compiled.get(key) ?? ajv.getValidator<T>(schema)
      compiled.set(key, validate)
      return validate(input) as ReturnType<ReturnType<typeof ajv.getValidator<T>>>
    }
  }
}
