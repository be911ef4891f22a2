import { ApiKey, ApiKeyInput, CreatedApiKey } from "#src/projects/ApiKey.ts"
import { ApiKeys } from "#src/projects/ApiKeys.ts"
import { Project, ProjectInput } from "#src/projects/Project.ts"
import { Projects } from "#src/projects/Projects.ts"
import { lineOf } from "#src/shared/outside-text.ts"
import { PageArguments, PageOf } from "#src/shared/paging.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

const projectId = { projectId: Schema.String }
const deploy = { toolset: "deploy" } as const

export const projectTools = Effect.gen(function*() {
  const projects = yield* Projects
  const keys = yield* ApiKeys
  return [
    tool({
      ...deploy,
      name: "list_projects",
      title: "List projects",
      description: "Lists the projects you can see, newest first. Start here to find where servers live.",
      effect: "read",
      needs: ["servers:read"],
      params: Input(PageArguments),
      success: PageOf(Project),
      run: projects.list
    }),
    tool({
      ...deploy,
      name: "create_project",
      title: "Create a project",
      description: "Creates a project: a group of servers with API keys of its own. Needs a session.",
      effect: "create",
      needs: "session",
      params: ProjectInput,
      success: Project,
      run: projects.create
    }),
    tool({
      ...deploy,
      name: "get_project",
      title: "Read a project",
      description: "Reads one project: its name, slug and times. list_servers with its id lists what is in it.",
      effect: "read",
      needs: ["servers:read"],
      params: Input(projectId),
      success: Project,
      run: (input) => projects.get(input.projectId)
    }),
    tool({
      ...deploy,
      name: "update_project",
      title: "Rename a project",
      description: "Changes a project's name. Its slug and its servers' addresses stay.",
      effect: "update",
      needs: ["servers:write"],
      params: Input({ ...projectId, ...ProjectInput.fields }),
      success: Project,
      run: (input) => projects.update(input.projectId, input)
    }),
    tool({
      ...deploy,
      name: "delete_project",
      title: "Delete a project",
      description:
        "Deletes a project with all its servers, deployments and API keys. Irreversible: ask first. list_servers shows " +
        "what goes with it; delete_server deletes one alone.",
      effect: "delete",
      needs: ["servers:write"],
      params: Input(projectId),
      confirm: (input) =>
        Effect.map(
          projects.visible(input.projectId),
          ({ name }) =>
            `Delete the project "${
              lineOf(name, 200)
            }" with all its servers, deployments and API keys? It can't be undone.`
        ),
      run: (input) => projects.remove(input.projectId)
    }),
    tool({
      ...deploy,
      name: "list_api_keys",
      title: "List API keys",
      description:
        "Lists a project's API keys with their scopes, newest first, without the keys themselves: to find one for " +
        "delete_api_key. Needs a session.",
      effect: "read",
      needs: "session",
      params: Input({ ...projectId, ...PageArguments }),
      success: PageOf(ApiKey),
      run: (input) => keys.list(input.projectId, input)
    }),
    tool({
      ...deploy,
      name: "create_api_key",
      title: "Create an API key",
      description:
        "Creates an API key of a project with the scopes given. The key is shown this once. One that an OAuth client " +
        "makes ends when its user revokes the client's grant. Needs a session.",
      effect: "create",
      needs: "session",
      params: Input({ ...projectId, ...ApiKeyInput.fields }),
      success: CreatedApiKey,
      run: (input) => keys.create(input.projectId, input)
    }),
    tool({
      ...deploy,
      name: "delete_api_key",
      title: "Delete an API key",
      description:
        "Deletes an API key for good: it stops working at once, so give who uses it another by create_api_key first. Needs " +
        "a session.",
      effect: "delete",
      needs: "session",
      params: Input({ keyId: Schema.String }),
      run: (input) => keys.remove(input.keyId)
    })
  ]
})
