import { type Deployment } from "#src/deployments/Deployment.ts"
import { parseReference } from "#src/images/reference.ts"
import { registryAdvice } from "#src/images/registry-advice.ts"
import { Either } from "effect"

/** What a deployment failed with; where a registry refused its image, what to do is in words of this command line. */
export const inCommands = ({ errorMessage, imageUri }: Pick<Deployment, "errorMessage" | "imageUri">) => {
  const reference = Either.getOrUndefined(parseReference(imageUri))
  if (errorMessage === undefined || reference?._tag !== "Registry") return errorMessage
  const [, name] = /with your account's credentials ([a-z0-9-]+):/.exec(errorMessage) ?? []
  const named = name === undefined ? "" : ` --name ${name}`
  const add = `berth registries add ${reference.registry}${named} --username USER`
  return errorMessage
    .replace(registryAdvice.add, add)
    .replace(registryAdvice.change, add)
    .replace(`(${registryAdvice.name})`, "(server.registry_credential of berth.toml)")
}
