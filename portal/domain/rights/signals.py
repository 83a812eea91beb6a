"""Register the app's parts that other apps run or show."""

from portal.domain.rights import saved_templates
from tenants.audit_log import changes

changes.register_words("rights_template", saved_templates.template_words)
