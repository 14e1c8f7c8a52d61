/** What is to be done where there is no mesh. No path stands in it: it reaches tool results. */
export const noMeshAdvice: string = [
  'There is no mesh on this machine yet. Ask your user which it is to be:',
  'agent_mesh_create makes one in an empty repository that the machines can all reach, such as a bare one on a disk or share',
  '(in a terminal: `git-mesh init --remote URL`);',
  'agent_mesh_join joins the one that is in a repository or that an invitation names (in a terminal: `git-mesh join URL`).',
  'Both show first what would be made. If this server was started with --dir or GIT_MESH_DIR, give a command in a terminal',
  'the same. Then call again: this server finds the mesh without a restart.',
].join(' ');
