"""Register the app's parts that other apps run or show."""

from portal.domain.jobs import kinds
from portal.domain.rights import saved_templates
from portal.rights import comparing
from tenants.audit_log import changes

kinds.register(comparing.COPY)
changes.register_words("rights_template", saved_templates.template_words)
