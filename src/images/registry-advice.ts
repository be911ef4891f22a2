/** How callers of the API are told to mend what a private registry refused; the command line has other words for each. */
export const registryAdvice = {
  add: "add_registry, POST /v1/registries",
  change: "update_registry, PATCH /v1/registries/{id}",
  name: "registryCredential"
} as const
