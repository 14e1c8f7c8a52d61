#!/usr/bin/env node
// For configurations and links that name this file: the launcher had this name before.
import './git-mesh.cjs';
