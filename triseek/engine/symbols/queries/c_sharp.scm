(namespace_declaration name: (identifier) @name) @namespace
(namespace_declaration name: (qualified_name) @name) @namespace
(file_scoped_namespace_declaration name: [(identifier) (qualified_name)] @name) @namespace
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(struct_declaration name: (identifier) @name) @struct
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(enum_member_declaration name: (identifier) @name) @enumerator
(delegate_declaration name: (identifier) @name) @delegate
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(local_function_statement name: (identifier) @name) @function
(property_declaration name: (identifier) @name) @property
(event_declaration name: (identifier) @name) @event
(event_field_declaration
  (variable_declaration (variable_declarator name: (identifier) @name))) @event
(field_declaration
  (variable_declaration (variable_declarator name: (identifier) @name))) @field
