// Starts the server's page: the head line, one pane or two, the address that brings them back.

import {Page} from "fovea/page/page.js";

new Page(document.body);
