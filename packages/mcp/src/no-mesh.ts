/** What a person has to do where there is no mesh. No path stands in it: it reaches tool results. */
export const noMeshAdvice: string = [
  'There is no mesh on this machine yet. Ask your user to make or join one in a terminal:',
  '`git-mesh init --remote URL` makes a mesh in an empty repository that the machines can all reach (a bare repository on a disk or share);',
  '`git-mesh join URL` joins the mesh that is in one.',
  'If this server was started with --dir or GIT_MESH_DIR, give the command the same.',
  'Then call again: this server finds the mesh without a restart.',
].join(' ');
